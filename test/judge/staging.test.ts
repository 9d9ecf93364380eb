import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Bug, Cancelled, Retry, type Rendered } from '@haptic/core/contract';
import { mkdir, readFile, readdir, readlink, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ContentPool } from '../../plugins/validator-haproxy/src/content-pool.ts';
import { Staging } from '../../plugins/validator-haproxy/src/staging.ts';
import { removeAbandoned, WorkFolder } from '../../plugins/validator-haproxy/src/work-folder.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';
import { renderedFiles } from './file-set.ts';

const never = new AbortController().signal;

async function treeOf(
  staging: Staging,
  rendered: Rendered,
): Promise<Map<string, { text: string; ino: number }>> {
  return staging.withTree(rendered.files, never, async (tree) => {
    const read = rendered.files.entries.map(async ({ path }) => {
      const file = join(tree, path);
      return [path, { text: await readFile(file, 'utf8'), ino: (await stat(file)).ino }] as const;
    });
    return new Map(await Promise.all(read));
  });
}

const maps = Object.fromEntries(
  Array.from({ length: 300 }, (_, index) => [`maps/${index}.map`, `key ${index}\n`]),
);

test('what has not changed is the same file again, what has is not', async () => {
  const staging = new Staging(new WorkFolder(await tempDir()));
  const before = await treeOf(staging, renderedFiles({ ...maps, 'haproxy.cfg': 'one' }));
  const after = await treeOf(
    staging,
    renderedFiles({ ...maps, 'haproxy.cfg': 'two', 'maps/7.map': 'key changed\n' }),
  );
  for (const [path, { ino }] of before) {
    const changed = path === 'haproxy.cfg' || path === 'maps/7.map';
    expect(after.get(path)?.ino === ino, path).toBe(!changed);
  }
  expect(after.get('maps/7.map')?.text).toBe('key changed\n');
  await staging.dispose();
});

test('trees at the same time do not get into each other', async () => {
  const temp = await tempDir();
  const staging = new Staging(new WorkFolder(temp));
  const sets = Array.from({ length: 8 }, (_, index) =>
    renderedFiles({ ...maps, 'haproxy.cfg': `${index}`, 'maps/own.map': `own ${index}\n` }),
  );
  const trees = await Promise.all(sets.map((set) => treeOf(staging, set)));
  trees.forEach((tree, index) => expect(tree.get('maps/own.map')?.text).toBe(`own ${index}\n`));
  await staging.dispose();
  expect(await readdir(temp)).toEqual([]);
});

test('the pool keeps to its limits', async () => {
  const temp = await tempDir();
  const pool = new ContentPool({ bytes: 1000, files: 10 });
  const staging = new Staging(new WorkFolder(temp), pool);
  for (let round = 0; round < 5; round += 1) {
    const tree = await treeOf(
      staging,
      renderedFiles({ ...maps, 'haproxy.cfg': `${round}`, 'maps/x.map': `round ${round}\n` }),
    );
    expect(tree.get('maps/x.map')?.text).toBe(`round ${round}\n`);
  }
  await until(() => pool.size.files <= 10);
  const [folder = ''] = await readdir(temp);
  await until(async () => (await readdir(join(temp, folder, 'pool'))).length <= 10);
  await staging.dispose();
});

test('only this user can enter', async () => {
  const temp = await tempDir();
  const staging = new Staging(new WorkFolder(temp));
  await staging.withTree(renderedFiles({ 'haproxy.cfg': '' }).files, never, async (tree) => {
    expect((await stat(join(tree, '..'))).mode & 0o777).toBe(0o700);
    expect((await stat(tree)).mode & 0o777).toBe(0o700);
    expect((await stat(join(tree, 'haproxy.cfg'))).mode & 0o777).toBe(0o400);
  });
  await staging.dispose();
});

test('a temp folder that is swept while we live is made again', async () => {
  const temp = await tempDir();
  const staging = new Staging(new WorkFolder(temp));
  const set = renderedFiles({ ...maps, 'haproxy.cfg': '' });
  await treeOf(staging, set);
  for (const name of await readdir(temp)) await rm(join(temp, name), { recursive: true });
  expect((await treeOf(staging, set)).get('maps/7.map')?.text).toBe('key 7\n');
  await staging.dispose();
});

test.each(['../../out', '../out', '/etc/out', 'a/../../out', 'a//b', '', 'a\0b', '..', '.'])(
  'the path %j is a bug, and nothing outside is touched',
  async (path) => {
    const temp = await tempDir();
    await writeFile(join(temp, 'out'), 'kept');
    const staging = new Staging(new WorkFolder(temp));
    await expect(treeOf(staging, renderedFiles({ [path]: 'x', 'haproxy.cfg': '' }))).rejects.toBeInstanceOf(
      Bug,
    );
    await staging.dispose();
    expect(await readdir(temp)).toEqual(['out']);
  },
);

test('a temp folder that takes nothing is no verdict', async () => {
  const temp = await tempDir();
  await writeFile(join(temp, 'file'), '');
  for (const parent of [join(temp, 'missing'), join(temp, 'file')]) {
    const answer = treeOf(new Staging(new WorkFolder(parent)), renderedFiles({ 'haproxy.cfg': '' }));
    await expect(answer).rejects.toBeInstanceOf(Retry);
    await expect(answer).rejects.toThrow(/cannot stage the files to check in .*: (ENOENT|ENOTDIR)/);
  }
});

test('staging stops when the answer is not wanted any more', async () => {
  const temp = await tempDir();
  const staging = new Staging(new WorkFolder(temp));
  const controller = new AbortController();
  const { files } = renderedFiles({ ...maps, 'haproxy.cfg': '' });
  const read = (path: string): Uint8Array => {
    if (path === 'maps/5.map') controller.abort();
    return files.read(path);
  };
  const answer = staging.withTree({ ...files, read }, controller.signal, () => Promise.resolve('staged'));
  await expect(answer).rejects.toBeInstanceOf(Cancelled);
  await staging.dispose();
  expect(await readdir(temp)).toEqual([]);
});

test('folders of dead judges go, those of live ones stay', async () => {
  const temp = await tempDir();
  const live = new WorkFolder(temp);
  const kept = await live.open();
  const namespace = /\d+/.exec(await readlink('/proc/self/ns/pid'))?.[0];
  const child = spawn('/bin/true');
  await once(child, 'exit');
  const folder = async (name: string, ageMs: number): Promise<string> => {
    const path = join(temp, name);
    await mkdir(join(path, 'pool'), { recursive: true });
    const time = new Date(Date.now() - ageMs);
    await utimes(path, time, time);
    return path;
  };
  const dead = await folder(`haptic-judge-${namespace}-${child.pid}-12345-abcdef`, 0);
  const reused = await folder(`haptic-judge-${namespace}-${process.pid}-1-abcdef`, 0);
  const elsewhereOld = await folder('haptic-judge-4-1-12345-abcdef', 2 * 3_600_000);
  const elsewhereYoung = await folder('haptic-judge-4-1-12345-fedcba', 1000);
  const other = await folder('something-else', 10 * 3_600_000);
  expect((await removeAbandoned(temp)).toSorted()).toEqual([dead, reused, elsewhereOld].toSorted());
  expect((await readdir(temp)).map((name) => join(temp, name)).toSorted()).toEqual(
    [kept, elsewhereYoung, other].toSorted(),
  );
});
