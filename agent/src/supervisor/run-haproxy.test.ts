import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Refused } from '@haptic/core/contract';
import { memoryLog } from '@haptic/core/testing';
import { lockFolder } from '../files/folder-lock.ts';
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

test('a base folder that is a file is named, and two do not look after the same sockets', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-supervisor-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'file');
  writeFileSync(file, '');
  const options = { binary: '/nonexistent', log: memoryLog(), signal: AbortSignal.timeout(30_000) };
  await expect(runHaproxy({ ...options, baseDir: file, socketDir: dir })).rejects.toThrow(
    `${file}: is a file or lies below one, expected a folder`,
  );
  await using _other = await lockFolder(dir, 'haptic haproxy');
  await expect(runHaproxy({ ...options, baseDir: dir, socketDir: dir })).rejects.toThrow(
    `${dir}: another haptic haproxy is running on this folder`,
  );
});
