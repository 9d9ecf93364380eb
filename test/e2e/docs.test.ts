import { cp, glob, readFile } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { tempDir } from '../haproxy/temp-dir.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { place, root } from './haptic-process.ts';

/** Commands that are not run here, by what runs them. */
const shownBy: Readonly<Record<string, string>> = {
  'npm ci': 'every run of the tests is behind one',
  'npm ci && npm start': 'test/e2e/quickstart.test.ts',
  'npm ci && npm test': 'this is part of it',
  'curl http://hello.localhost:8080/': 'test/e2e/quickstart.test.ts',
  'curl http://shop.localhost:8080/cart': 'test/e2e/quickstart.test.ts',
  'npx haptic up --resources DIR': 'test/e2e/up.test.ts',
  'npx haptic agent --base-dir BASE --socket-dir RUN --listen 127.0.0.1:5555 --tls-cert tls.crt --tls-key tls.key --tls-ca ca.crt':
    'test/agent/tls-cli.test.ts',
  'npm run check': '.ci/run runs its parts',
  'npm run soak': 'test/repository.test.ts holds that the script is there',
  'npm run fuzz': 'test/repository.test.ts holds that the script is there',
  'npm run bench': 'test/repository.test.ts holds that the script is there',
  'npm run crds': 'test/repository.test.ts holds that the script is there',
  'npm run format': 'test/repository.test.ts holds that the script is there',
};

/** Pages whose commands build on one another, by what runs them from top to bottom. */
const runAsAWhole: Readonly<Record<string, string>> = {
  'docs/validators.md': 'test/validators/docs.test.ts',
};

interface Documented {
  readonly page: string;
  readonly command: string;
}

async function documentedCommands(): Promise<readonly Documented[]> {
  const found: Documented[] = [];
  for await (const page of glob(['README.md', 'CONTRIBUTING.md', 'docs/**/*.md', 'examples/**/README.md'], {
    cwd: root,
  })) {
    if (page in runAsAWhole) continue;
    const text = await readFile(join(root, page), 'utf8');
    for (const [, block = ''] of text.matchAll(/^```sh\n([\s\S]*?)^```/gm)) {
      for (const line of block.split('\n')) {
        const command = line.replace(/(?:^|\s)#.*/, '').trim();
        if (command !== '') found.push({ page, command });
      }
    }
  }
  return found;
}

const documented = await documentedCommands();
const isRun = (command: string): boolean =>
  /^npx haptic (?:render|validate|plugins|version|help)\b/.test(command);

test('every documented command is run by a test', () => {
  const unknown = documented.filter(({ command }) => !isRun(command) && !(command in shownBy));
  expect(unknown).toEqual([]);
  expect(documented.length).toBeGreaterThan(10);
});

test('what runs a page as a whole does so', async () => {
  for (const [page, file] of Object.entries(runAsAWhole)) {
    expect(await readFile(join(root, file), 'utf8')).toContain(page);
  }
});

test('no command is in the table that is not documented', () => {
  const commands = new Set(documented.map(({ command }) => command));
  expect(Object.keys(shownBy).filter((command) => !commands.has(command))).toEqual([]);
});

test('the page of commands names every command and every variable, and no other', async () => {
  const page = await readFile(join(root, 'docs/commands.md'), 'utf8');
  const variables = (text: string): ReadonlySet<string> => new Set(text.match(/\bHAPTIC_\w+/g));
  const help: string[] = [];
  for await (const file of glob('test/data/help/*.txt', { cwd: root })) {
    help.push(await readFile(join(root, file), 'utf8'));
    const command = basename(file, '.txt').replace('-', ' ');
    expect(page).toContain(command === 'haptic' ? '`haptic help COMMAND`' : command);
  }
  expect(variables(page)).toEqual(variables(help.join('\n')));
});

forEachVersion(
  ({ binary }) => {
    test.each([...new Set(documented.map(({ command }) => command).filter(isRun))])('%s', async (command) => {
      const { dir, env } = await place();
      const folder = await tempDir();
      // What stands for something of the reader's own.
      const words = command
        .replace(/\bDIR\b/, join(folder, 'resources'))
        .replace(/\bOUT\b/, join(folder, 'out'));
      await cp(join(root, 'examples/quickstart/resources'), join(folder, 'resources'), { recursive: true });
      const PATH = [join(root, 'node_modules/.bin'), env['PATH']].join(delimiter);
      const result = await execa('sh', ['-c', words.replace(/^npx /, '')], {
        cwd: dir,
        env: { ...env, PATH, HAPTIC_HAPROXY: binary },
        extendEnv: false,
        reject: false,
        timeout: 50_000,
      });
      expect(result, result.stderr).toMatchObject({ exitCode: 0, stderr: '' });
    });
  },
  ['3.4'],
);
