import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LastRecord } from './last-record.ts';

function file(): string {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-record-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return join(dir, 'record.json');
}

test('the last record counts, and the file stays short', () => {
  const path = file();
  const record = new LastRecord(path, 'process');
  expect(record.read()).toBeUndefined();
  for (let count = 0; count < 3_000; count += 1) {
    record.write({ count, text: 'line\nbreak' });
    if (count % 500 === 0) expect(new LastRecord(path, 'power').read()).toMatchObject({ count });
  }
  expect(record.read()).toEqual({ count: 2_999, text: 'line\nbreak' });
  expect(statSync(path).size).toBeLessThan(70_000);
});

test('half a line at the end is none', () => {
  const path = file();
  const record = new LastRecord(path, 'power');
  record.write({ count: 1 });
  appendFileSync(path, '{"count":');
  const next = new LastRecord(path, 'process');
  expect(next.read()).toEqual({ count: 1 });
  next.write({ count: 2 });
  expect(new LastRecord(path, 'process').read()).toEqual({ count: 2 });
});
