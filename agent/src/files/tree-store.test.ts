import {
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FileTable } from './file-table.ts';
import { digestOf, type Tree } from './tree.ts';
import type { Step } from '../steps.ts';
import { TreeStore } from './tree-store.ts';

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
      files: FileTable.of(entries),
      needsLoad: false,
      touchesWorker: false,
      plan: [],
      restoreTo: null,
    },
    contents: new Map(contents.map((content) => [digestOf(content), content])),
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
  expect(store.missing([...tree.record.files], new Map())).toEqual(['a']);
  expect(() => stage(store, { a: 'one' }, [])).toThrow('neither sent nor held');
});

test('collects what nothing points at, and what a killed process left; not the trees of the supervisor', () => {
  const dir = baseDir();
  const steps: Step[] = [];
  const store = new TreeStore({ baseDir: dir, onStep: (step) => void steps.push(step) });
  const trees = ['1', '2', '3', '4'].map((content) => stage(store, { a: content }));
  store.point('current', trees[0]!);
  store.point('lkg', trees[1]!);
  writeFileSync(join(dir, 'fence.json.123-0123abcd.tmp'), '');
  writeFileSync(join(dir, 'trees', 'agent-x.new'), '');
  writeFileSync(join(dir, 'trees', 'supervisor-x'), '');
  new TreeStore({ baseDir: dir }).collect([trees[2]!.id]);
  // The fourth is spare.
  expect(readdirSync(join(dir, 'trees')).toSorted()).toEqual(
    [...trees.map(({ id }) => id), 'supervisor-x'].toSorted(),
  );
  expect(readdirSync(dir).toSorted()).toEqual(['current', 'lkg', 'trees', 'trees-agent.log']);
  expect(steps).toContain('staged');
});

test('a tree that nobody needs becomes the next one, and nothing of the old one stays in it', () => {
  const dir = baseDir();
  const store = new TreeStore({ baseDir: dir });
  const sets = [
    { 'a/b/c': '1', 'x/y': '1', same: 's', f: '1' },
    { a: '2', 'x/y': '1', same: 's', 'f/g': '2' },
    { 'a/b/c': '3', 'x/y': '1', same: 's', f: '3' },
    { a: '4', same: 's', 'f/g': '4' },
    { 'a/b': '5', 'x/y': '1', same: 's' },
  ];
  const inodes = new Set<number>();
  for (const files of sets) {
    const before = readdirSync(join(dir, 'trees'));
    const tree = stage(
      store,
      files,
      Object.keys(files).filter((path) => path !== 'same' || before.length === 0),
    );
    const entries = readdirSync(tree.folder, { recursive: true, withFileTypes: true });
    const read = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(tree.folder.length + 1), readFileSync(path, 'utf8')]);
    expect(Object.fromEntries(read)).toEqual(files);
    inodes.add(statSync(join(tree.folder, 'same')).ino);
    store.point('current', tree);
    store.collect([]);
    expect(readdirSync(join(dir, 'trees')).length).toBeLessThanOrEqual(2);
  }
  expect(inodes.size).toBe(1);
});

test.each<[string, (folder: string, outside: string) => void]>([
  ['another file', (folder) => writeFileSync(join(folder, 'extra'), '')],
  [
    'a link out of the tree',
    (folder, outside) => {
      rmSync(join(folder, 'a'), { recursive: true });
      symlinkSync(outside, join(folder, 'a'));
    },
  ],
])('a spare tree that holds %s is not used', (_what, touch) => {
  const [dir, outside] = [baseDir(), baseDir()];
  const store = new TreeStore({ baseDir: dir });
  const first = stage(store, { 'a/b': '1' });
  store.point('current', first);
  const second = stage(store, { 'a/b': '2' });
  store.point('current', second);
  store.collect([]);
  touch(first.folder, outside);
  // Files that do no harm are found when the disk is looked at.
  store.check(second);
  const third = stage(store, { 'a/b': '3' });
  expect(readdirSync(third.folder)).toEqual(['a']);
  expect(readdirSync(outside)).toEqual([]);
  expect(readdirSync(join(dir, 'trees')).toSorted()).toEqual([second.id, third.id].toSorted());
});

test('survives records that are no records and links that lead elsewhere', () => {
  const dir = baseDir();
  const store = new TreeStore({ baseDir: dir });
  const tree = stage(store, { a: 'one' });
  store.point('current', tree);
  writeFileSync(join(dir, 'trees-agent.log'), '{"planId":\n');
  expect(new TreeStore({ baseDir: dir }).pointer('current')).toBeUndefined();
  store.unpoint('current');
  expect(store.pointer('current')).toBeUndefined();
});

test('what the other process has removed is forgotten: its trees come and go for ever', () => {
  const base = baseDir();
  const agent = new TreeStore({ baseDir: base });
  const supervisor = new TreeStore({ baseDir: base, maker: 'supervisor' });
  const ids: string[] = [];
  for (let turn = 0; turn < 10; turn += 1) {
    const tree = stage(agent, { a: `${turn}` });
    agent.point('current', tree);
    agent.collect([]);
    ids.push(tree.id);
    // As after each death of HAProxy.
    expect(supervisor.pointer('current')?.id).toBe(tree.id);
  }
  const left = new Set(agent.all().map(({ id }) => id));
  expect(ids.filter((id) => supervisor.tree(id) !== undefined)).toEqual(ids.filter((id) => left.has(id)));
});
