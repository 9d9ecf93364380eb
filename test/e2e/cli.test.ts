import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { main } from '@haptic/cli';
import { tempDir } from '../haproxy/temp-dir.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { haptic } from './haptic-process.ts';
import { ingress } from './objects.ts';
import { HOST, site } from './site.ts';

/** Runs a command line in this process, which is enough for what only parses. */
async function parse(args: readonly string[]): Promise<{ exitCode: unknown; out: string; err: string }> {
  const said = { out: '', err: '' };
  await main(args, {
    out: (text) => void (said.out += `${text}\n`),
    err: (text) => void (said.err += `${text}\n`),
    style: (_tone, text) => text,
  });
  return { exitCode: process.exitCode, ...said };
}

let exitCode: typeof process.exitCode;
beforeEach(() => {
  exitCode = process.exitCode;
  process.exitCode = undefined;
});
afterEach(() => {
  process.exitCode = exitCode;
});

const commands = [
  '',
  'up',
  'run',
  'render',
  'validate',
  'plugins',
  'agent',
  'agent state',
  'agent health',
  'haproxy',
  'version',
];

// `npx vitest run test/e2e/cli.test.ts -u` writes them anew.
test.each(commands)('the help of haptic %s', async (command) => {
  const { out, ...rest } = await parse([...command.split(' ').filter(Boolean), '--help']);
  expect(rest).toEqual({ exitCode: 0, err: '' });
  const name = command === '' ? 'haptic' : command.replace(' ', '-');
  await expect(out).toMatchFileSnapshot(join(import.meta.dirname, `../data/help/${name}.txt`));
});

test('every command has its help here', async () => {
  const { out } = await parse(['--help']);
  const listed = [...out.matchAll(/^ {2}([a-z]+) \[/gm)].map(([, name]) => name);
  expect(listed.filter((name) => name !== 'help')).toEqual(commands.filter((name) => /^[a-z]+$/.test(name)));
});

test.each([
  [['upp'], "error: unknown command 'upp'\n(Did you mean up?)\n"],
  [
    ['render', '--resources', 'x', '--out', 'y', '--confg', 'z'],
    "error: unknown option '--confg'\n(Did you mean --config?)\n",
  ],
  [['agent', 'stat'], "error: unknown command 'stat'\n(Did you mean state?)\n"],
  [['agent', 'state'], "error: required option '--token-file <file>' not specified, nor the three of TLS\n"],
  [
    ['agent', 'health', '--tls-cert', 'x', '--tls-ca', 'y'],
    "error: the options '--tls-cert', '--tls-key' and '--tls-ca' belong together\n",
  ],
  [
    ['agent', 'state', '--listen', 'unix:'],
    "error: option '--listen <address>' argument 'unix:' is invalid. expected unix:PATH or HOST:PORT\n",
  ],
  [['up'], "error: required option '--resources <dir>' not specified\n"],
  [['render', '--resource', 'x'], "error: unknown option '--resource'\n(Did you mean --resources?)\n"],
  [
    ['up', '--resources', 'x', '--http-port', '70000'],
    "error: option '--http-port <port>' argument '70000' is invalid. expected a port from 1 to 65535\n",
  ],
  [
    ['version', '--output', 'yaml'],
    "error: option '--output <format>' argument 'yaml' is invalid. Allowed choices are text, json.\n",
  ],
  [['haproxy', '--drain', '5'], /error: option '--drain <duration>' .* expected a duration such as 500ms/],
])('haptic %j is refused', async (args, words) => {
  const result = await parse(args);
  expect(result).toMatchObject({ exitCode: 2, out: '' });
  if (typeof words === 'string') expect(result.err).toBe(words);
  else expect(result.err).toMatch(words);
});

test('version', async () => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string;
  };
  expect(await haptic(['version'])).toMatchObject({
    exitCode: 0,
    stdout: `haptic ${version} (Node.js ${process.versions.node}, plugin API 1)`,
    stderr: '',
  });
  expect((await parse(['--version'])).out).toBe(`${version}\n`);
  expect(JSON.parse((await parse(['version', '--output', 'json'])).out)).toEqual({
    version,
    node: process.versions.node,
    pluginApi: 1,
  });
});

/** A config folder with one file. */
async function configFolder(spec: string): Promise<string> {
  const folder = await tempDir();
  const head = `apiVersion: haproxy-haptic.org/v1alpha1\nkind: HAProxyTemplateConfig\nmetadata: { name: mine }\n`;
  await writeFile(join(folder, 'config.yaml'), `${head}spec:\n${spec}`);
  return folder;
}

const REFUSED = `  templateSnippets:
    frontend-before-mine:
      template: |
        http-request set-haeder X-Mine one
`;
const FAILING = `  validationTests:
    mine:
      assertions:
        - { type: contains, target: haproxy.cfg, pattern: no such words }
`;

forEachVersion(
  ({ binary }) => {
    const judge = `--haproxy=${binary}`;

    test('render writes what HAProxy would get, and replaces only what it has written', async () => {
      const { dir, write } = await site();
      const out = join(await tempDir(), 'deep', 'out');
      const render = (...args: readonly string[]) =>
        haptic(['render', judge, `--resources=${dir}`, `--out=${out}`, ...args]);
      const first = await render();
      expect(first).toMatchObject({ exitCode: 0, stderr: '' });
      expect(first.stdout).toMatch(/^wrote \d+ files to .*\/deep\/out \(plan [0-9a-f]{12}\)$/);
      expect(await readFile(join(out, 'haproxy.cfg'), 'utf8')).toContain('backend default_app_80');
      expect(await readFile(join(out, 'maps/hosts.map'), 'utf8')).toContain(`/${HOST} `);

      await write('app.yaml', ingress('app', 'other.example', { '/': 'app' }));
      const second = await render('--output=json');
      expect(second).toMatchObject({ exitCode: 0, stderr: '' });
      const said = JSON.parse(second.stdout) as { files: readonly { path: string }[] };
      expect(said).toMatchObject({ out, planId: expect.stringMatching(/^[0-9a-f]{64}$/), findings: [] });
      const written = await readdir(out, { recursive: true, withFileTypes: true });
      const paths = written.filter((entry) => entry.isFile() && !entry.name.startsWith('.'));
      expect(
        paths.map(({ parentPath, name }) => join(parentPath, name).slice(out.length + 1)).toSorted(),
      ).toEqual(said.files.map(({ path }) => path).toSorted());
      expect(await readFile(join(out, 'maps/hosts.map'), 'utf8')).not.toContain(`/${HOST} `);

      const refused = await render(`--config=${await configFolder(REFUSED)}`);
      expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
      expect(refused.stderr).toMatch(
        /^error: validator-haproxy: haproxy\.cfg:\d+: .*'set-haeder'[^\n]*\n {2}from the snippet "[\w-]+" \(\w+\), line \d+$/m,
      );
      expect(await readFile(join(out, 'maps/hosts.map'), 'utf8')).toContain('/other.example ');
    });

    test('render touches no folder of somebody else', async () => {
      const { dir } = await site();
      const foreign = await tempDir();
      await mkdir(join(foreign, 'mine'));
      const result = await haptic(['render', judge, `--resources=${dir}`, `--out=${foreign}`]);
      expect(result).toMatchObject({ exitCode: 2, stdout: '' });
      expect(result.stderr).toMatch(/^error: .*: is not empty and was not written by a render/);
      expect(await readdir(foreign)).toEqual(['mine']);
    });

    test('validate judges what only a cluster has a use for, and does without it', async () => {
      const forCluster =
        '  leaderElection: { retryPeriod: 3s }\n  podSelector: { matchLabels: { app: haproxy } }\n';
      const config = await configFolder(forCluster);
      expect(await haptic(['validate', judge, `--config=${config}`])).toMatchObject({
        exitCode: 0,
        stderr: '',
      });

      const misspelt = await configFolder('  leaderElection: { retryPerio: 3s }\n');
      const { exitCode: code, stderr } = await haptic(['validate', judge, `--config=${misspelt}`]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/leaderElection\.retryPerio: unknown key "retryPerio".*"retryPeriod"/);
    });

    test('validate: 0 when all is well, 1 when tests fail, 2 when there is nothing to test', async () => {
      const shipped = await haptic(['validate', judge]);
      expect(shipped).toMatchObject({ exitCode: 0, stderr: '' });
      expect(shipped.stdout).toMatch(/^the configuration is valid; tests: \d+ passed, 0 failed, 0 skipped/m);

      const failing = await configFolder(FAILING);
      const one = await haptic(['validate', judge, `--config=${failing}`, '--test=mine', '--output=json']);
      expect(one.exitCode).toBe(1);
      expect(JSON.parse(one.stdout)).toMatchObject({
        passed: 0,
        failed: 1,
        tests: [{ name: 'mine', source: 'mine', status: 'failed' }],
      });

      const broken = await haptic(['validate', judge, `--config=${await configFolder('  maps: [what]\n')}`]);
      expect(broken).toMatchObject({ exitCode: 2, stdout: '' });
      expect(broken.stderr).toMatch(/^error: .*config\.yaml:5:\d+: maps: expected an object/);
    });

    test('plugins lists what is loaded, from where and with which options', async () => {
      const folder = await tempDir();
      const plugin = join(import.meta.dirname, '../../examples/plugins/no-wildcard-hosts.mjs');
      const host = `plugins:\n  - use: ${plugin}\n    options: { allow: ['*.example'] }\n`;
      await writeFile(join(folder, 'haptic.config.yaml'), host);
      const {
        exitCode: code,
        stdout,
        stderr,
      } = await haptic(['plugins', '--preset=folders', judge, '--output=json'], folder);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const list = JSON.parse(stdout) as readonly { name: string }[];
      expect(list.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['source-file', 'routing', 'ingress', 'validator-haproxy', 'deploy-agent']),
      );
      expect(list.at(-1)).toMatchObject({
        name: 'no-wildcard-hosts',
        judge: 'custom',
        origin: { use: plugin },
        options: { allow: ['*.example'] },
      });
    });
  },
  ['3.4'],
);
