import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Launcher } from '../../plugins/validator-haproxy/src/process/launcher.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { noProcesses, processesIn } from '../haproxy/processes.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';
import { script } from './start-judge.ts';

const limits = { timeoutMs: 30_000, maxOutput: 1024, signal: new AbortController().signal };

function launcherOf(largeBytes: number): Launcher {
  const launcher = new Launcher(largeBytes);
  onCleanup(() => launcher.dispose());
  return launcher;
}

/** One that nobody has collected yet has ended, too. */
function hasEnded(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}

test('a small process starts programs by itself', async () => {
  const launcher = launcherOf(Infinity);
  expect(await launcher.run('/bin/true', [], limits)).toMatchObject({ kind: 'ended', code: 0 });
  expect(launcher.pid).toBeUndefined();
});

test('a large one has one process for that, and many programs at once', async () => {
  const launcher = launcherOf(0);
  const echo = await script('echo "$1"; echo "no $1" >&2; exit "$1"');
  const codes = Array.from({ length: 20 }, (_, index) => index);
  const results = await Promise.all(codes.map((code) => launcher.run(echo, [`${code}`], limits)));
  expect(results).toEqual(
    codes.map((code) => ({ kind: 'ended', code, stdout: `${code}\n`, stderr: `no ${code}\n` })),
  );
  const { pid } = launcher;
  expect(pid).toBeGreaterThan(0);
  await launcher.run('/bin/true', [], limits);
  expect(launcher.pid).toBe(pid);
  await launcher.dispose();
  expect(hasEnded(pid!)).toBe(true);
});

test('a program that is not there is an error, and the next one runs', async () => {
  const launcher = launcherOf(0);
  await expect(launcher.run('/nowhere/haproxy', [], limits)).rejects.toThrow('ENOENT');
  expect(await launcher.run('/bin/true', [], limits)).toMatchObject({ kind: 'ended' });
});

test('a launcher that is asked to end goes on; one that is killed is an error, and another one starts', async () => {
  const launcher = launcherOf(0);
  const wait = await script('while [ ! -e "$1" ]; do sleep 0.05; done');
  const file = join(await tempDir(), 'never');
  const answer = launcher.run(wait, [file], limits);
  const pid = launcher.pid!;
  await until(async () => (await processesIn(file)).length > 0);
  process.kill(pid, 'SIGTERM');
  process.kill(pid, 'SIGINT');
  expect(await launcher.run('/bin/true', [], limits)).toMatchObject({ kind: 'ended' });
  expect(launcher.pid).toBe(pid);
  process.kill(pid, 'SIGKILL');
  await expect(answer).rejects.toThrow('the launcher of checks has ended (SIGKILL)');
  expect(await launcher.run('/bin/true', [], limits)).toMatchObject({ kind: 'ended' });
  expect(launcher.pid).not.toBe(pid);
  // Nobody is left to end it.
  await writeFile(file, '');
  await noProcesses(file);
});

test('it ends, with what it runs, when who uses it is killed', async () => {
  const wait = await script('while :; do sleep 0.05; done');
  const program = join(import.meta.dirname, 'programs/launching.ts');
  const user = spawn(process.execPath, ['--conditions=source', program, wait], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onCleanup(() => void user.kill('SIGKILL'));
  const [line] = (await once(createInterface(user.stdout), 'line')) as [string];
  await until(async () => (await processesIn(wait)).length > 1);
  expect(hasEnded(Number(line))).toBe(false);
  user.kill('SIGKILL');
  await until(() => hasEnded(Number(line)));
  await noProcesses(wait);
});

test('one that nobody disposed of does not keep its user from ending', async () => {
  const program = join(import.meta.dirname, 'programs/launching.ts');
  const user = spawn(process.execPath, ['--conditions=source', program, '/bin/true'], { stdio: 'ignore' });
  onCleanup(() => void user.kill('SIGKILL'));
  expect(await once(user, 'exit')).toEqual([0, null]);
});
