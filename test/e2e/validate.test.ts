import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { haptic, noTrace, place, root, start } from './haptic-process.ts';

const SECRET = 'very-secret-word';

/** One test of each outcome, with a secret in what they render. */
const MIXED = `  settings: { password: ${SECRET} }
  templateSnippets:
    section-users:
      template: |
        {% section "users", [], {secret: true} %}
        userlist users
            user admin insecure-password {{ settings.password | word }}
        {% endsection %}
  validationTests:
    'good/1':
      assertions:
        - { type: routes, request: { path: / }, expect: { backend: _404 } }
    bad:
      assertions:
        - { type: contains, target: haproxy.cfg, pattern: 'user admin insecure <passwort> & "more"' }
        - { type: not_contains, target: haproxy.cfg, pattern: insecure-password }
    later:
      minHAProxyVersion: '99.0'
      assertions:
        - { type: haproxy_valid }
    nobody:
      settings: { listeners: { i80: { bind: ':80' } } }
      assertions:
        - { type: contains, target: haproxy.cfg, pattern: no such words, description: "a \\u0001 name" }
`;

async function write(folder: string, spec: string): Promise<void> {
  const head = `apiVersion: haproxy-haptic.org/v1alpha1\nkind: HAProxyTemplateConfig\nmetadata: { name: mine }\n`;
  // As editors do: whoever follows the folder sees the old text or the new one.
  await writeFile(join(folder, '.config'), `${head}spec:\n${spec}`);
  await rename(join(folder, '.config'), join(folder, 'config.yaml'));
}

async function configFolder(spec: string): Promise<string> {
  const folder = await tempDir();
  await write(folder, spec);
  return folder;
}

function claim(pattern: string): string {
  return `  validationTests:\n    mine:\n      assertions:\n        - { type: contains, target: haproxy.cfg, pattern: ${pattern} }\n`;
}

/** What a parser that is not ours reads of a report: a line an element, its attributes sorted. */
async function readXml(text: string): Promise<readonly string[]> {
  const script = `
import sys, xml.etree.ElementTree as tree
def walk(e, depth):
    words = [e.tag] + sorted(f"{k}={v}" for k, v in e.attrib.items() if k != "time")
    print("  " * depth + " ".join(words))
    for child in e: walk(child, depth + 1)
walk(tree.fromstring(sys.stdin.buffer.read()), 0)`;
  const { stdout } = await execa('python3', ['-c', script], { input: text });
  return stdout.split('\n');
}

forEachVersion(
  ({ binary }) => {
    const judge = `--haproxy=${binary}`;

    test('the report for CI servers is XML that others read', async () => {
      const folder = await configFolder(MIXED);
      const { exitCode, stdout } = await haptic(['validate', judge, `--config=${folder}`, '--output=junit']);
      expect(exitCode).toBe(1);
      const lines = await readXml(stdout);
      expect(lines[0]).toBe('testsuites errors=0 failures=2 name=haptic validate skipped=1 tests=8');
      expect(lines.slice(lines.findIndex((line) => line.includes('name=mine'))).slice(0, 8)).toEqual([
        '  testsuite errors=0 failures=2 name=mine skipped=1 tests=4',
        '    testcase classname=mine name=bad',
        '      failure message=no match of /user admin insecure <passwort> & "more"/ in haproxy.cfg type=failure',
        '    testcase classname=mine name=good/1',
        '    testcase classname=mine name=later',
        expect.stringMatching(/^ {6}skipped message=needs HAProxy 99\.0, this is /),
        '    testcase classname=mine name=nobody',
        '      failure message=no match of /no such words/ in haproxy.cfg type=failure',
      ]);
      expect(stdout).toContain('a \uFFFD name');
    });

    test('no report tells a secret, and what tests rendered is for their user alone', async () => {
      const folder = await configFolder(MIXED);
      const dump = join(await tempDir(), 'dump');
      const validate = (...args: readonly string[]) =>
        haptic(['validate', judge, `--config=${folder}`, ...args]);
      const text = await validate(`--dump-rendered=${dump}`);
      const printed = await validate('--dump-rendered=-');
      for (const { stdout, stderr, exitCode } of [text, printed, await validate('--output=json')]) {
        expect(exitCode).toBe(1);
        expect(stdout + stderr).not.toContain(SECRET);
      }
      expect(text.stdout).toContain('a match of /insecure-password/ in haproxy.cfg');
      expect(printed.stdout).toMatch(/^=== good\/1: haproxy\.cfg\n[\s\S]*^\(secret\)$/m);
      expect(printed.stdout).toContain('=== good/1: maps/hosts.map');

      const config = await readFile(join(dump, 'good%2F1/haproxy.cfg'), 'utf8');
      expect(config).toContain(SECRET);
      for (const entry of await readdir(dump, { recursive: true, withFileTypes: true })) {
        const { mode } = await stat(join(entry.parentPath, entry.name));
        expect([entry.name, (mode & 0o777).toString(8)]).toEqual([
          entry.name,
          entry.isDirectory() ? '700' : '600',
        ]);
      }
      expect(((await stat(dump)).mode & 0o777).toString(8)).toBe('700');
      // Written again over itself, and over nothing else.
      expect(await validate(`--dump-rendered=${dump}`, '--test=good/1')).toMatchObject({ exitCode: 0 });
      expect((await readdir(dump)).filter((name) => !name.startsWith('.'))).toEqual(['good%2F1']);
      const foreign = await validate(`--dump-rendered=${dirname(dump)}`);
      expect(foreign).toMatchObject({ exitCode: 2, stdout: '' });
      const both = await validate('--dump-rendered=-', '--output=json');
      expect(both).toMatchObject({
        exitCode: 2,
        stderr: 'error: --dump-rendered - prints texts, which do not go with --output json',
      });
    });

    test('a test that there is not is named with the nearest', async () => {
      const folder = await configFolder(claim('global'));
      const result = await haptic([
        'validate',
        judge,
        `--config=${folder}`,
        '--test=mien',
        '--test',
        'base-setting',
      ]);
      expect(result).toMatchObject({ exitCode: 2, stdout: '' });
      expect(result.stderr).toBe(
        'error: 2 problems\nno test "mien", did you mean "mine"?\nno test "base-setting", did you mean "base-settings"?',
      );
    });

    test('contents that templates fetch are those of the test', async () => {
      const folder = await configFolder(`  templateSnippets:
    section-list:
      template: |
        {% section "list" %}
        # {{ http.fetch("https://lists.test/blocked") ?? "nothing yet" }}
        {% endsection %}
  validationTests:
    fetched:
      httpResources: [{ url: 'https://LISTS.test/blocked', content: 192.0.2.1 }]
      assertions:
        - { type: contains, target: haproxy.cfg, pattern: '^# 192\\.0\\.2\\.1$' }
    waiting:
      assertions:
        - { type: contains, target: haproxy.cfg, pattern: '^# nothing yet$' }
`);
      const result = await haptic(['validate', judge, `--config=${folder}`, '--test', 'fetched', 'waiting']);
      expect(result).toMatchObject({ exitCode: 0, stderr: '' });
      expect(result.stdout).toMatch(/2 passed, 0 failed, 0 skipped/);
    });

    test('it looks again when files change, and stops as it should', async () => {
      const folder = await configFolder(claim('global'));
      const at = await place();
      const program = join(root, 'cli/bin/haptic.mjs');
      const flags = [judge, `--config=${folder}`, '--test=mine', '--watch'];
      const running = start(process.execPath, ['--conditions=source', program, 'validate', ...flags], at);
      const reports = (): readonly string[] =>
        running.stdout().match(/^(?:passed|failed) mine|^the configuration.*$/gm) ?? [];
      const reportsAre = (count: number): Promise<unknown> =>
        until(() => reports().length >= count, { deadlineMs: 60_000, what: 'the next report' });
      await reportsAre(2);
      expect(reports()[0]).toBe('passed mine');
      await write(folder, claim('no such words'));
      await reportsAre(4);
      expect(reports()[2]).toBe('failed mine');
      await write(folder, '  maps: [what]\n');
      await until(() => running.stderr().includes('maps: expected an object'), { deadlineMs: 60_000 });
      await write(folder, claim('no such words either'));
      await reportsAre(6);
      expect(reports()[4]).toBe('failed mine');
      process.kill(running.pid, 'SIGINT');
      expect(await running.ended).toBe(1);
      await noTrace(at, 20_000);
    });
  },
  ['3.4'],
);

test('without HAProxy the rest is judged, and that is no success', async () => {
  const empty = await tempDir();
  await mkdir(join(empty, 'bin'));
  const folder = await configFolder(
    MIXED.replace(/ {4}bad:[\s\S]*?(?= {4}later:)/, '').replace(/ {4}nobody:[\s\S]*$/, ''),
  );
  const validate = async (...args: readonly string[]) => {
    const at = await place();
    const program = ['--conditions=source', join(root, 'cli/src/main.ts'), 'validate', `--config=${folder}`];
    const env = { ...at.env, PATH: join(empty, 'bin') };
    return await execa(process.execPath, [...program, ...args], {
      cwd: at.dir,
      env,
      extendEnv: false,
      reject: false,
    });
  };
  const plain = await validate('--test', 'good/1', 'later');
  expect(plain.exitCode).toBe(1);
  expect(plain.stdout).toMatch(
    /^not judged good\/1 \(mine\)\n {2}routes GET http:\/\/\/\n {4}not judged: there is no HAProxy here$/m,
  );
  expect(plain.stdout).toMatch(/0 passed, 0 failed, 0 skipped, 2 not judged/);
  expect(plain.stderr).toMatch(/no HAProxy to check configurations with/);
  expect(await validate('--test', 'good/1', '--allow-skip')).toMatchObject({ exitCode: 0 });
  expect(await validate('--haproxy', '/nonexistent/haproxy')).toMatchObject({ exitCode: 2, stdout: '' });
});
