import fs, { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FileTable } from './file-table.ts';
import { digestOf, type Tree } from './tree.ts';
import { TreeStore } from './tree-store.ts';

/** When each file and folder was brought to the disk last, by inode: its time of change at that moment. */
function watchSyncs(): ReadonlyMap<number, number> {
  const synced = new Map<number, number>();
  const { fsyncSync } = fs;
  fs.fsyncSync = (handle) => {
    const { ino, mtimeMs } = fs.fstatSync(handle);
    synced.set(ino, mtimeMs);
    fsyncSync(handle);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.fsyncSync = fsyncSync;
    syncBuiltinESMExports();
  });
  return synced;
}

/** What a power cut could take of it. */
function atRisk({ folder }: Tree, synced: ReadonlyMap<number, number>): string[] {
  return ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })].filter((path) => {
    const { ino, mtimeMs } = statSync(join(folder, path));
    return synced.get(ino) !== mtimeMs;
  });
}

/** With the bytes of what the store lacks. */
function stage(store: TreeStore, files: Readonly<Record<string, string>>): Tree {
  const entries = Object.entries(files).map(([path, content]) => ({
    path,
    digest: digestOf(Buffer.from(content)),
    size: content.length,
    kind: 'file',
    reloadOnChange: true,
  }));
  const contents = store.missing(entries, new Map()).map((path) => Buffer.from(files[path]!));
  const plain = { planId: 'p', textId: 't', binds: [], needsLoad: false, touchesWorker: false, plan: [] };
  return store.stage({
    record: { ...plain, files: FileTable.of(entries), restoreTo: null },
    contents: new Map(contents.map((content) => [digestOf(content), content])),
  });
}

test('a tree that is to survive a power cut is on the disk as a whole before anything names it', () => {
  const baseDir = mkdtempSync(join(tmpdir(), 'haptic-power-'));
  onTestFinished(() => rmSync(baseDir, { recursive: true }));
  const first = { 'a/b': 'one', 'a/c': 'two', 'd/e/f': 'three', g: 'four' };
  // What is there was made when nobody asked for that.
  const before = new TreeStore({ baseDir });
  for (let count = 0; count < 2; count += 1) before.point('current', stage(before, first));

  const synced = watchSyncs();
  const store = new TreeStore({ baseDir, durability: 'power' });
  store.collect([]);
  const sets = [
    { ...first, g: 'five' },
    { 'a/b': 'one', 'd/e/f': 'three', g: 'six' },
    { 'a/b': 'one', 'd/h': 'three', g: 'five' },
    { 'a/b': 'one', 'a/c': 'two', g: 'six' },
    { ...first, 'i/j': 'one' },
  ];
  for (const files of sets) {
    const tree = stage(store, files);
    expect(atRisk(tree, synced), JSON.stringify(files)).toEqual([]);
    store.point('current', tree);
    store.collect([]);
  }
});
