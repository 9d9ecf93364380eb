import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Refused } from '@haptic/core/contract';
import { lockFolder } from './folder-lock.ts';

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-lock-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

test.runIf(process.platform === 'linux')('one of a kind holds a folder, by whatever path', async () => {
  const dir = tempDir();
  mkdirSync(join(dir, 'other'));
  symlinkSync('.', join(dir, 'same'));
  {
    await using _lock = await lockFolder(dir, 'haptic agent');
    for (const path of [dir, join(dir, 'same')]) {
      const second = lockFolder(path, 'haptic agent');
      await expect(second).rejects.toThrow(`${path}: another haptic agent is running on this folder`);
      await expect(second).rejects.toBeInstanceOf(Refused);
    }
    await using _program = await lockFolder(dir, 'haptic haproxy');
    await using _folder = await lockFolder(join(dir, 'other'), 'haptic agent');
  }
  await using _again = await lockFolder(dir, 'haptic agent');
});

test.runIf(process.platform === 'linux')('a killed holder is in nobody’s way', async () => {
  const dir = tempDir();
  const module = join(import.meta.dirname, 'folder-lock.ts');
  const program = `
    const { lockFolder } = await import(${JSON.stringify(module)});
    await lockFolder(${JSON.stringify(dir)}, 'haptic agent');
    console.log('locked');
    setTimeout(() => {}, 60_000);`;
  const args = ['--conditions=source', '--input-type=module', '-e', program];
  const holder = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  await expect(lockFolder(dir, 'haptic agent')).rejects.toThrow('another haptic agent');
  holder.kill('SIGKILL');
  await once(holder, 'close');
  await using _lock = await lockFolder(dir, 'haptic agent');
});

test('what is no folder is named', async () => {
  const file = join(tempDir(), 'file');
  writeFileSync(file, '');
  for (const path of [file, join(file, 'below')]) {
    const locked = lockFolder(path, 'haptic agent');
    await expect(locked).rejects.toThrow(`${path}: is a file or lies below one, expected a folder`);
    await expect(locked).rejects.toBeInstanceOf(Refused);
  }
});
