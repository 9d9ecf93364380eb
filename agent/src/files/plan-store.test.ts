import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PlanStore } from './plan-store.ts';
import { digestOf } from './tree.ts';

function baseDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-plans-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

function parts(count: number, size: number): Map<string, Uint8Array> {
  const bytes = Array.from({ length: count }, () => randomBytes(size));
  return new Map(bytes.map((part) => [digestOf(part), part]));
}

test('keeps parts over a restart, also behind a line that was cut short', () => {
  const dir = baseDir();
  const first = parts(5, 30_000);
  new PlanStore(dir).write(first);
  appendFileSync(join(dir, 'plans.log'), `${'0'.repeat(64)} AAAA`);
  const store = new PlanStore(dir);
  const second = parts(3, 10);
  expect(store.missing(['0'.repeat(64)], new Map())).toHaveLength(1);
  store.write(second);
  const all = [...first, ...second];
  for (const known of [store, new PlanStore(dir, 'power')]) {
    expect(known.read(all.map(([digest]) => digest))).toEqual(all.map(([, bytes]) => bytes));
  }
  expect(store.read([...first.keys(), digestOf(Buffer.from('x'))])).toBeUndefined();
});

test('drops what nobody needs once it has grown', () => {
  const dir = baseDir();
  const store = new PlanStore(dir);
  let needed = new Map<string, Uint8Array>();
  for (let round = 0; round < 100; round += 1) {
    needed = parts(2, 20_000);
    store.write(needed);
    store.collect(() => needed.keys());
  }
  expect(statSync(join(dir, 'plans.log')).size).toBeLessThan(1.2 * 1024 * 1024);
  expect(new PlanStore(dir).read([...needed.keys()])).toEqual([...needed.values()]);
});

test('what was spoilt on the disk is missing, and kept once it is given again', () => {
  const dir = baseDir();
  const store = new PlanStore(dir);
  const given = parts(2, 100);
  const digests = [...given.keys()];
  store.write(given);
  for (const spoil of [
    () => writeFileSync(join(dir, 'plans.log'), Buffer.alloc(1_000, 'A')),
    () => rmSync(join(dir, 'plans.log')),
  ]) {
    spoil();
    expect(store.read(digests)).toBeUndefined();
    expect(store.missing(digests, new Map())).toEqual(digests);
    store.write(given);
    expect(store.read(digests)).toEqual([...given.values()]);
  }
});
