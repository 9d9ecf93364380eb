import { execa } from 'execa';
import { access, constants, glob, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** What a commit would hold; without git (an unpacked archive) everything but what is installed or built. */
async function listFiles(): Promise<readonly string[]> {
  const git = await execa('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    reject: false,
  });
  if (!git.failed) return git.stdout.split('\0').filter((path) => path !== '');
  const paths: string[] = [];
  const exclude = ['**/node_modules', '**/dist', '**/coverage', '.git', '**/.haptic'];
  for await (const entry of glob('**/*', { cwd: root, exclude, withFileTypes: true })) {
    if (entry.isFile()) paths.push(join(entry.parentPath, entry.name).slice(root.length + 1));
  }
  return paths;
}

const isText = (path: string): boolean =>
  /\.(?:ts|mts|js|mjs|json|md|yaml|yml|lua|cfg|sh)$|^\.ci\//.test(path);
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

/** Files that another process removes between the listing and the reading are no finding. */
async function existing(): Promise<readonly string[]> {
  const listed = await listFiles();
  const kept = await Promise.all(
    listed.map((path) =>
      access(join(root, path)).then(
        () => [path],
        () => [],
      ),
    ),
  );
  return kept.flat();
}

const files = await existing();
const manifests = files.filter((path) => /(?:^|\/)package\.json$/.test(path) && !path.includes('fixtures'));

interface Manifest {
  readonly version: string;
  readonly license: string;
  readonly private: boolean;
  readonly type: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const manifest = async (path: string): Promise<Manifest> => JSON.parse(await read(path)) as Manifest;

/** Every match of a pattern, as `file:line: text`. */
async function search(paths: readonly string[], pattern: RegExp): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const lines = (await read(path)).split('\n');
      return lines.flatMap((line, index) =>
        pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      );
    }),
  );
  return found.flat();
}

test('no file holds a path of the machine that it was written on', async () => {
  // Put together here, so that this file does not hold one.
  const folders = ['home', 'root', 'Users', 'work'].join('|');
  const neighbour = ['..', 'shared', ''].join('/').replaceAll('.', '\\.');
  const pattern = new RegExp(`(?<![\\w.$}/-])/(?:${folders})/[\\w.]|${neighbour}`);
  expect(['', 'home', 'someone', 'x'].join('/')).toMatch(pattern);
  expect(await search(files.filter(isText), pattern)).toEqual([]);
});

test('no binary and nothing large is committed', async () => {
  const found = await Promise.all(
    files.map(async (path) => {
      const { size } = await stat(join(root, path));
      if (size > 1024 * 1024) return [`${path} has ${size} bytes`];
      return (await readFile(join(root, path))).includes(0) ? [`${path} is binary`] : [];
    }),
  );
  expect(found.flat()).toEqual([]);
});

test('nothing that was built or installed is committed', () => {
  const built = /(?:^|\/)(?:node_modules|dist|coverage|\.haptic)\/|\.tsbuildinfo$|\.js\.map$|\.log$/;
  expect(files.filter((path) => built.test(path))).toEqual([]);
});

test.each(manifests)('%s names exact versions and the licence', async (path) => {
  const own = await manifest(path);
  expect(own).toMatchObject({
    license: 'Apache-2.0',
    private: true,
    type: 'module',
    engines: { node: '>=24' },
  });
  expect(own.version).toBe((await manifest('package.json')).version);
  for (const [name, version] of Object.entries({ ...own.dependencies, ...own.devDependencies })) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/);
    if (name.startsWith('@haptic/')) expect(version, name).toBe(own.version);
  }
});

test('the licence is there in full', async () => {
  expect(await read('LICENSE')).toMatch(/Apache License\s+Version 2\.0[\s\S]*END OF TERMS AND CONDITIONS/);
});

test('the lockfile names the public registry only', async () => {
  const resolved = [...(await read('package-lock.json')).matchAll(/"resolved": "([^"]+)"/g)].map(
    ([, url]) => url ?? '',
  );
  const isOurs = (url: string): boolean => /^(?:core|agent|kube|prometheus|cli|plugins\/[\w-]+)$/.test(url);
  expect(resolved.filter((url) => !isOurs(url) && !url.startsWith('https://registry.npmjs.org/'))).toEqual(
    [],
  );
});

test('what scripts run is there', async () => {
  const { scripts = {} } = await manifest('package.json');
  for (const [name, command] of Object.entries(scripts)) {
    for (const [path] of command.matchAll(/\b[\w./-]+\.(?:ts|js|mjs)\b/g)) {
      expect(files, `npm run ${name} needs ${path}`).toContain(path);
    }
  }
  await access(join(root, '.ci/run'), constants.X_OK);
});

const pages = files.filter((path) => path.endsWith('.md') && !path.startsWith('test/data/'));

test('every npm script that a page names exists', async () => {
  const { scripts = {} } = await manifest('package.json');
  const named = await Promise.all(
    pages.map(async (page) =>
      [...(await read(page)).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name]) => [page, name ?? '']),
    ),
  );
  for (const [page, name] of named.flat()) expect(Object.keys(scripts), `named in ${page}`).toContain(name);
});

test.each(pages)('every link of %s to a file leads somewhere', async (page) => {
  // Code is not prose: what looks like a link there is not one.
  const prose = (await read(page)).replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '');
  for (const [, target = ''] of prose.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const path = join(root, dirname(page), target);
    await expect(access(path), `${page} links to ${target}`).resolves.toBeUndefined();
  }
});
