import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { request } from '../haproxy/raw-request.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { traffic } from '../haproxy/traffic.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { haptic, up, type LogLine, type Up } from './haptic-process.ts';
import { ingress } from './objects.ts';
import { answer, HOST, site, type Site } from './site.ts';

/** A configuration whose snippet adds a header; the argument is what stands on line 9 from column 9. */
const config = (directive: string): string => `apiVersion: haproxy-haptic.org/v1alpha1
kind: HAProxyTemplateConfig
metadata:
  name: mine
spec:
  templateSnippets:
    frontend-before-mine:
      template: |
        ${directive}
`;
const header = (value: string): string => config(`http-response set-header X-Mine ${value}`);

const NEITHER_ERROR_NOR_WARNING = /"level":"(?:error|warn)"/;

interface Fault {
  readonly name: string;
  readonly break: (site: Site, config: string) => Promise<void>;
  /** Of the one error that is logged. */
  readonly words: RegExp;
  /** Whether a second line says that the file is right again: what is wrong with its text alone is the file's own. */
  readonly mended: boolean;
}

const faults: readonly Fault[] = [
  {
    name: 'a YAML typo',
    break: ({ write }) =>
      write('app.yaml', ingress('app', HOST, { '/': 'app' }).replace(`host: ${HOST}`, `host ${HOST}`)),
    words: /app\.yaml:9:7: [^\n]+\n {2}9 \| {5}- host app\.example\n +\^/,
    mended: true,
  },
  {
    name: 'an Ingress that is no object',
    break: ({ write }) =>
      write('app.yaml', ingress('app', HOST, { '/': 'app' }).replace('  name: app', '  nmae: app')),
    words: /app\.yaml:3:1: no Kubernetes object: metadata\.name is missing/,
    mended: true,
  },
  {
    name: 'an Ingress with a wrong path type',
    break: ({ write }) =>
      write('app.yaml', ingress('app', HOST, { '/': 'app' }).replace('Prefix', 'Prefixx')),
    words:
      /app\.yaml:13:23: Ingress app: spec\.rules\.0\.http\.paths\.0\.pathType: expected one of Exact, Prefix, ImplementationSpecific, got "Prefixx", did you mean "Prefix"\?\n {2}13 \| .*\n +\^/,
    mended: true,
  },
  {
    name: 'an Ingress without a list of rules',
    break: ({ write }) =>
      write('app.yaml', ingress('app', HOST, {}).replace(/rules:[^]*/, 'rules: nonsense\n')),
    words: /app\.yaml:8:10: Ingress app: spec\.rules: expected a list of rules, got "nonsense"/,
    mended: true,
  },
  {
    name: 'an Ingress for a host that is none',
    break: ({ write }) => write('app.yaml', ingress('app', '"he llo"', { '/': 'app' })),
    words: /app\.yaml:9:13: Ingress app: spec\.rules\.0\.host: expected a DNS name/,
    mended: true,
  },
  {
    name: 'a misspelt kind',
    break: ({ write }) =>
      write('app.yaml', ingress('app', HOST, { '/': 'app' }).replace('Ingress', 'Ingres')),
    words: /app\.yaml:2:7: .* has no such kind, did you mean "Ingress"\?/,
    mended: true,
  },
  {
    name: 'an unknown name in a template',
    break: (_site, file) => writeFile(file, header('{{ settigns.timeouts.client }}')),
    words: /\(.*config\.yaml:9:44\): there is no variable "settigns", did you mean "settings"\?/,
    mended: false,
  },
  {
    name: 'an unknown key in the configuration',
    break: (_site, file) => writeFile(file, header('one').replace('templateSnippets', 'templateSnipets')),
    words: /config\.yaml:6:3: .*unknown key "templateSnipets", did you mean "templateSnippets"\?/,
    mended: false,
  },
  {
    name: 'a directive that HAProxy refuses',
    break: (_site, file) => writeFile(file, config('http-response set-haeder X-Mine two')),
    words: /haproxy\.cfg:\d+: [\s\S]*set-haeder/,
    mended: false,
  },
];

function logged(run: Up): readonly LogLine[] {
  return run
    .stderr()
    .split('\n')
    .filter((line) => NEITHER_ERROR_NOR_WARNING.test(line))
    .map((line) => JSON.parse(line) as LogLine);
}

forEachVersion(
  ({ binary }) => {
    test('a fault is one clear message, what serves goes on, and mending it takes effect', async () => {
      const app = await site();
      const folder = await tempDir();
      const file = join(folder, 'config.yaml');
      await writeFile(file, header('zero'));
      const run = await up({ haproxy: binary, resources: [app.dir], args: [`--config=${folder}`] });
      const mine = async (): Promise<string | undefined> =>
        (await request(run.port, { host: HOST })).header('x-mine');
      expect(await mine()).toBe('zero');
      expect(logged(run)).toEqual([]);
      const load = traffic({ port: run.port, host: HOST, clients: 1, pauseMs: 10 });

      for (const [index, fault] of faults.entries()) {
        const before = logged(run).length;
        await fault.break(app, file);
        await until(() => logged(run).length > before, { deadlineMs: 30_000, what: fault.name });
        expect(await mine(), fault.name).toMatch(/zero|mended/);
        expect(await answer(run.port), fault.name).toBe('app');

        // Mended, and changed as well, so that it can be seen on the wire.
        await app.write('extra.yaml', ingress('extra', 'extra.example', { [`/${index}`]: 'app' }));
        await app.write('app.yaml', ingress('app', HOST, { '/': 'app', [`/${index}`]: 'app' }));
        await writeFile(file, header(`mended-${index}`));
        await until(async () => (await mine()) === `mended-${index}`, {
          deadlineMs: 30_000,
          what: fault.name,
        });
        await until(async () => (await answer(run.port, 'extra.example', `/${index}`)) === 'app');

        if (fault.mended) {
          await until(() => logged(run).length > before + 1, { deadlineMs: 30_000, what: fault.name });
        }
        const said = logged(run).slice(before);
        expect(
          said.map(({ level, msg }) => (level === 'error' ? level : msg)),
          `${fault.name}: ${JSON.stringify(said)}`,
        ).toEqual(fault.mended ? ['error', 'file is right again'] : ['error']);
        const [{ problem, why, err }] = said as [LogLine];
        expect(problem ?? why ?? (err as { message: string }).message, fault.name).toMatch(fault.words);
      }
      expect((await load.stop()).failures).toEqual([]);
    });

    test('without HAProxy, or with a port that is taken, it ends at once and says why', async () => {
      const { dir, origin } = await site();
      const missing = await haptic(['up', '--resources', dir, '--haproxy', '/nowhere/haproxy']);
      expect(missing).toMatchObject({ exitCode: 2 });
      expect(missing.stderr).toMatch(/^error: .*\/nowhere\/haproxy is not an executable file/m);
      expect(missing.stderr.match(/^error/gm), missing.stderr).toHaveLength(1);

      const port = String(origin.port);
      const taken = await haptic(['up', '--resources', dir, '--haproxy', binary, '--http-port', port]);
      expect(taken).toMatchObject({ exitCode: 2, stdout: '' });
      expect(taken.stderr).toBe(
        `error: port ${port} of 127.0.0.1 is in use; choose another with --http-port or HAPTIC_HTTP_PORT`,
      );

      const nowhere = await haptic(['up', '--resources', join(dir, 'nowhere'), '--haproxy', binary]);
      expect(nowhere).toMatchObject({ exitCode: 2 });
      expect(nowhere.stderr).toMatch(/^error: .*nowhere: does not exist/m);
      expect((await readdir(dir)).toSorted()).toEqual(['app.yaml', 'backend.yaml', 'class.yaml']);
    });
  },
  ['3.4'],
);
