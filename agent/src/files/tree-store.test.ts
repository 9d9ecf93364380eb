import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { digestOf, type Tree } from './tree.ts';
import { TreeStore, type FileStep } from './tree-store.ts';

function baseDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-trees-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

function stage(store: TreeStore, files: Record<string, string>, sent = Object.keys(files)): Tree {
  const entries = Object.entries(files).map(([path, content]) => ({
    path,
    digest: digestOf(Buffer.from(content)),
    size: content.length,
    kind: 'file',
    reloadOnChange: true,
  }));
  const contents = sent.map((path) => Buffer.from(files[path]!));
  return store.stage({
    record: {
      planId: 'p',
      textId: 't',
      binds: [],
      files: entries,
      needsLoad: false,
      restoreTo: null,
    },
    contents: new Map(contents.map((content) => [digestOf(content), content])),
    plan: Buffer.from('plan'),
  });
}

test('unchanged files are the same file on the disk, and nothing of another tree changes', () => {
  const store = new TreeStore({ baseDir: baseDir() });
  const first = stage(store, { 'a/b': 'one', c: 'two' });
  store.point('current', first);
  const second = stage(store, { 'a/b': 'one', c: 'three' }, ['c']);
  const inode = (tree: Tree, path: string): number => statSync(join(tree.folder, path)).ino;
  expect(inode(second, 'a/b')).toBe(inode(first, 'a/b'));
  expect(readFileSync(join(first.folder, 'c'), 'utf8')).toBe('two');
  store.point('current', second);
  expect(readFileSync(join(store.workingDirectory, 'c'), 'utf8')).toBe('three');
  expect(store.plan(second).toString()).toBe('plan');
});

test('a tree that cannot be built leaves nothing', () => {
  const dir = baseDir();
  const store = new TreeStore({ baseDir: dir });
  expect(() => stage(store, { a: 'one', b: 'two' }, ['a'])).toThrow('b: neither sent nor held');
  expect(readdirSync(join(dir, 'trees'))).toEqual([]);
});

test('a file that was changed on the disk is found, and is not linked into the next tree', () => {
  const store = new TreeStore({ baseDir: baseDir() });
  const tree = stage(store, { a: 'one' });
  store.point('current', tree);
  writeFileSync(join(tree.folder, 'a'), 'changed');
  expect(store.check(tree)).toEqual(['a']);
  expect(store.missing(tree.record.files, new Map())).toEqual(['a']);
  expect(() => stage(store, { a: 'one' }, [])).toThrow('neither sent nor held');
});

test('collects what nothing points at, and what a killed process left; not the trees of the supervisor', () => {
  const dir = baseDir();
  const steps: FileStep[] = [];
  const store = new TreeStore({ baseDir: dir, onStep: (step) => void steps.push(step) });
  const trees = ['1', '2', '3', '4'].map((content) => stage(store, { a: content }));
  store.point('current', trees[0]!);
  store.point('lkg', trees[1]!);
  writeFileSync(join(dir, 'fence.json.123-0123abcd.tmp'), '');
  writeFileSync(join(dir, 'trees', 'agent-x.new'), '');
  writeFileSync(join(dir, 'trees', 'supervisor-x'), '');
  new TreeStore({ baseDir: dir }).collect([trees[2]!.id]);
  expect(readdirSync(join(dir, 'trees')).toSorted()).toEqual(
    [...trees.slice(0, 3).map(({ id }) => id), 'supervisor-x'].toSorted(),
  );
  expect(readdirSync(dir).toSorted()).toEqual(['current', 'lkg', 'trees']);
  expect(steps).toContain('staged');
});

test('survives records that are no records and links that lead elsewhere', () => {
  const dir = baseDir();
  const store = new TreeStore({ baseDir: dir });
  const tree = stage(store, { a: 'one' });
  store.point('current', tree);
  writeFileSync(join(dir, 'trees', tree.id, 'record.json'), '{"planId":');
  expect(new TreeStore({ baseDir: dir }).pointer('current')).toBeUndefined();
  store.unpoint('current');
  expect(store.pointer('current')).toBeUndefined();
});
