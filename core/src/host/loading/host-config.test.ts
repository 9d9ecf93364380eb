import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Refused } from '../../contract/errors.ts';
import { readHostConfig } from './host-config.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'haptic-host-config-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function write(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

async function problems(from: Parameters<typeof readHostConfig>[0]) {
  const error: unknown = await readHostConfig(from).catch((reason: unknown) => reason);
  if (!(error instanceof Refused)) throw new Error(`not refused: ${String(error)}`);
  return error.problems.map(({ where, message }) => ({ where: where.replace(`${folder}/`, ''), message }));
}

describe('readHostConfig', () => {
  it.each(['haptic.config.yaml', 'haptic.config.yml', 'haptic.config.json'])(
    'finds %s in a folder',
    async (name) => {
      const file = await write(
        name,
        '{"plugins": [{"use": "a", "options": {"x": [1]}}, {"use": "./b", "enabled": false}]}',
      );
      const config = await readHostConfig({ folder });
      expect(config).toMatchObject({
        file,
        plugins: [
          { use: 'a', options: { x: [1] }, enabled: true },
          { use: './b', enabled: false },
        ],
      });
      expect(config?.plugins[0]?.locate(['x', 0])).toBe(`${file}:1:45`);
    },
  );

  it('does not search parents, and finds nothing in an empty folder', async () => {
    await write('haptic.config.yaml', 'plugins: []');
    await mkdir(join(folder, 'inner'));
    expect(await readHostConfig({ folder: join(folder, 'inner') })).toBeUndefined();
  });

  it.each(['', '# nothing\n', '---\n', '{}', 'plugins: []'])(
    'takes %j for no change of the preset',
    async (text) => {
      const file = await write('mine.yaml', text);
      expect(await readHostConfig({ file })).toEqual({ file, plugins: [] });
    },
  );

  it('reports everything that is wrong, with its place and the nearest name', async () => {
    const file = await write(
      'mine.yaml',
      'plugin: []\nplugins:\n  - use: a\n    enabeld: false\n  - options: {}\n  - use: b\n    options: [1]\n',
    );
    expect(await problems({ file })).toEqual([
      { where: 'mine.yaml:1:1', message: 'unknown key "plugin", did you mean "plugins"?' },
      { where: 'mine.yaml:4:5', message: 'unknown key "enabeld", did you mean "enabled"?' },
      { where: 'mine.yaml:5:5', message: 'missing, expected text' },
      { where: 'mine.yaml:7:5', message: 'expected an object, got a list' },
    ]);
  });

  it.each<[string, string, string, string]>([
    ['a syntax error', 'mine.yaml', 'plugins: [\n', 'mine.yaml:2:1'],
    ['a duplicate key', 'mine.yaml', 'plugins: []\nplugins: []\n', 'mine.yaml:2:1'],
    ['a list', 'mine.yaml', '- use: a\n', 'mine.yaml:1:1'],
    ['two documents', 'mine.yaml', 'plugins: []\n---\nplugins: []\n', 'mine.yaml:3:1'],
    ['an import of another file', 'mine.yaml', '$import: ./other.yaml\n', 'mine.yaml:1:1'],
    ['code', 'haptic.config.js', 'process.exit(9)', 'haptic.config.js'],
    ['a name without extension', 'config', 'plugins: []', 'config'],
  ])('refuses %s', async (_, name, text, where) => {
    const file = await write(name, text);
    expect((await problems({ file })).map((problem) => problem.where)).toEqual([where]);
  });

  it('refuses a file that does not exist, when exactly that one is asked for', async () => {
    expect(await problems({ file: join(folder, 'none.yaml') })).toEqual([
      { where: 'none.yaml', message: expect.stringContaining('cannot be read: ENOENT') as string },
    ]);
  });

  it('refuses two files instead of taking one of them', async () => {
    await write('haptic.config.yaml', 'plugins: []');
    await write('haptic.config.json', '{}');
    expect((await problems({ folder }))[0]?.message).toContain('there are several host configurations');
  });

  it('refuses what it cannot read instead of passing over it: the judges in it would be missing', async () => {
    await mkdir(join(folder, 'haptic.config.yaml'));
    expect(await problems({ folder })).toEqual([
      { where: 'haptic.config.yaml', message: expect.stringContaining('cannot be read: EISDIR') as string },
    ]);
  });
});
