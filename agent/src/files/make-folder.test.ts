import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Refused } from '@haptic/core/contract';
import { makeFolder } from './make-folder.ts';

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-folder-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

test('folders are made with those above them, and left where they are', () => {
  const dir = tempDir();
  mkdirSync(join(dir, 'there'), { mode: 0o755 });
  symlinkSync('there', join(dir, 'link'));
  for (const path of ['there', 'link', 'a/b/c', 'there/x', 'link/y/', 'a/../d']) {
    makeFolder(join(dir, path));
    makeFolder(`${dir}/${path}`);
    expect(statSync(join(dir, path)).isDirectory(), path).toBe(true);
  }
  expect(statSync(join(dir, 'there')).mode & 0o777).toBe(0o755);
  expect(statSync(join(dir, 'a/b')).mode & 0o777).toBe(0o700);
});

test('what cannot be made is named with the reason', () => {
  const dir = tempDir();
  writeFileSync(join(dir, 'file'), '');
  symlinkSync('nowhere', join(dir, 'dangling'));
  for (const path of ['file', 'file/below', 'file/far/below', 'dangling', 'dangling/below']) {
    expect(() => makeFolder(join(dir, path)), path).toThrow(Refused);
    expect(() => makeFolder(join(dir, path)), path).toThrow(join(dir, path));
  }
});

test.runIf(process.platform === 'linux')('where nothing can be made there is an end to it', () => {
  for (const path of ['/proc/haptic', '/proc/haptic/far/below']) {
    // In a process of its own: one that does not come back could not be ended from within.
    const program = `
      const { makeFolder } = await import(${JSON.stringify(join(import.meta.dirname, 'make-folder.ts'))});
      makeFolder(${JSON.stringify(path)});`;
    const args = ['--conditions=source', '--input-type=module', '-e', program];
    const { signal, stderr } = spawnSync(process.execPath, args, { timeout: 8_000, killSignal: 'SIGKILL' });
    expect(signal, path).toBeNull();
    expect(stderr.toString()).toContain(`${path}: cannot be made: ENOENT`);
  }
});
