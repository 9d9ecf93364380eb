import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FileTable } from './file-table.ts';
import { digestOf, type Tree, type TreeRecord } from './tree.ts';
import { TreeLog } from './tree-log.ts';

function baseDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-tree-log-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

function record(count: number, change: number): TreeRecord {
  const files = Array.from({ length: count }, (_, index) => ({
    path: `files/${index}`,
    digest: digestOf(Buffer.from(index === 7 ? String(change) : '')),
    size: 1,
    kind: 'file',
    reloadOnChange: true,
  }));
  return {
    planId: `plan ${change}`,
    textId: 't',
    binds: [':80'],
    files: FileTable.of(files),
    plan: ['a', `b${change}`, 'c'],
    needsLoad: false,
    touchesWorker: false,
    restoreTo: null,
  };
}

function same(actual: TreeRecord | undefined, expected: TreeRecord): void {
  expect({ ...actual, files: actual?.files.digest }).toEqual({ ...expected, files: expected.files.digest });
}

test('a change of one file among many is a short line, and another process reads it', () => {
  const dir = baseDir();
  const log = new TreeLog(dir, 'agent', 'process');
  const reader = new TreeLog(dir, 'agent', 'process');
  log.add('one', record(1_000, 1), () => []);
  const { size } = statSync(join(dir, 'trees-agent.log'));
  log.add('two', record(1_000, 2), () => []);
  expect(statSync(join(dir, 'trees-agent.log')).size - size).toBeLessThan(1_000);
  for (const known of [reader, new TreeLog(dir, 'agent', 'power')]) {
    same(known.get('one'), record(1_000, 1));
    same(known.get('two'), record(1_000, 2));
    expect(known.get('three')).toBeUndefined();
  }
});

test('half a line is none, and what follows it counts', () => {
  const dir = baseDir();
  new TreeLog(dir, 'agent', 'process').add('one', record(10, 1), () => []);
  appendFileSync(join(dir, 'trees-agent.log'), '{"id":"torn","from":"one"');
  const log = new TreeLog(dir, 'agent', 'process');
  expect(log.get('torn')).toBeUndefined();
  log.add('two', record(10, 2), () => []);
  same(new TreeLog(dir, 'agent', 'process').get('two'), record(10, 2));
  expect(readFileSync(join(dir, 'trees-agent.log'), 'utf8')).not.toContain('torn');
});

test('stays short: the trees that are there are written anew', () => {
  const dir = baseDir();
  const log = new TreeLog(dir, 'agent', 'process');
  const alive: Tree[] = [];
  for (let change = 0; change < 2_000; change += 1) {
    const tree = { id: `t${change}`, folder: '', record: record(200, change) };
    log.add(tree.id, tree.record, () => alive);
    alive.push(tree);
    for (const { id } of alive.splice(0, alive.length - 3)) log.forget(id);
  }
  expect(statSync(join(dir, 'trees-agent.log')).size).toBeLessThan(300_000);
  const read = new TreeLog(dir, 'agent', 'process');
  for (const tree of alive) same(read.get(tree.id), tree.record);
  expect(read.get('t5')).toBeUndefined();
});

test('behind a line that was spoilt nothing is lost from the next one on', () => {
  const dir = baseDir();
  const path = join(dir, 'trees-agent.log');
  const before = new TreeLog(dir, 'agent', 'process');
  before.add('one', record(10, 1), () => []);
  before.add('two', record(10, 2), () => []);
  const text = readFileSync(path, 'utf8');
  const at = text.indexOf('\n') + 5;
  writeFileSync(path, `${text.slice(0, at)}\0\0\0${text.slice(at + 3)}`);
  const log = new TreeLog(dir, 'agent', 'process');
  expect(log.get('two')).toBeUndefined();
  const one = { id: 'one', folder: '', record: record(10, 1) };
  log.add('three', record(10, 3), () => [one]);
  const read = new TreeLog(dir, 'agent', 'process');
  same(read.get('one'), record(10, 1));
  same(read.get('three'), record(10, 3));
});
