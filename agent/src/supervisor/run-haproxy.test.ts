import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Refused } from '@haptic/core/contract';
import { memoryLog } from '@haptic/core/testing';
import { checkTree } from './check-tree.ts';
import { runHaproxy } from './run-haproxy.ts';

test('a program that is not there, or is none, is named', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-supervisor-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const none = join(dir, 'none');
  const text = join(dir, 'text');
  writeFileSync(text, 'x');
  for (const binary of [none, text]) {
    const options = { binary, baseDir: dir, socketDir: dir, log: memoryLog() };
    const signal = AbortSignal.timeout(30_000);
    const expected = new RegExp(`^${binary}: cannot be started as HAProxy: `);
    await expect(runHaproxy({ ...options, signal })).rejects.toThrow(expected);
    await expect(checkTree(binary, dir, 10_000)).rejects.toThrow(expected);
    await expect(checkTree(binary, dir, 10_000)).rejects.toBeInstanceOf(Refused);
  }
});
