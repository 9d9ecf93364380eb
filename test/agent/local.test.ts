import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { onCleanup } from '../haproxy/cleanup.ts';
import { freePort } from '../haproxy/free-port.ts';
import { noProcesses, processesIn } from '../haproxy/processes.ts';
import { request } from '../haproxy/raw-request.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { traffic } from '../haproxy/traffic.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';

const program = join(import.meta.dirname, 'programs', 'up.ts');

interface Up {
  readonly pid: number;
  readonly port: number;
  readonly dir: string;
  output(): string;
  ended(): Promise<unknown>;
}

/** Starts a local run whose private folder lies in `dir`, and waits until it serves. */
async function up(binary: string, dir: string, port: number, args: readonly string[] = []): Promise<Up> {
  const child = spawn(
    process.execPath,
    ['--conditions=source', program, `--binary=${binary}`, `--port=${port}`, ...args],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, XDG_RUNTIME_DIR: dir } },
  );
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const output = (): string => Buffer.concat(chunks).toString();
  const exit = once(child, 'exit');
  onCleanup(async () => {
    child.kill('SIGKILL');
    await exit;
    await noProcesses(dir);
  });
  await until(async () => (await request(port)).body.toString() === 'up one', { deadlineMs: 20_000 }).catch(
    (error: Error) => {
      throw new Error(`${error.message}\n${output()}`);
    },
  );
  return { pid: child.pid!, port, dir, output, ended: () => exit };
}

/** Pids of what runs in the folder, by a word of the command line. */
async function pids(dir: string, word: string): Promise<number[]> {
  const found = await processesIn(dir);
  return found.filter((line) => line.includes(word)).map((line) => Number.parseInt(line, 10));
}

const folders = async (dir: string): Promise<string[]> =>
  (await readdir(dir)).filter((name) => name.startsWith('haptic-up-'));

forEachVersion(
  ({ binary }) => {
    test('ends without a trace', async () => {
      const dir = await tempDir();
      const run = await up(binary, dir, await freePort());
      process.kill(run.pid, 'SIGTERM');
      expect(await run.ended(), run.output()).toEqual([0, null]);
      expect(await processesIn(dir)).toEqual([]);
      expect(await folders(dir)).toEqual([]);
    });

    test('killed, it leaves nothing after two seconds', async () => {
      const dir = await tempDir();
      const run = await up(binary, dir, await freePort());
      process.kill(run.pid, 'SIGKILL');
      await noProcesses(dir, 2_000);
      expect(await folders(dir)).toEqual([]);
    });

    test('killed together with its children, it leaves nothing after two seconds', async () => {
      const dir = await tempDir();
      const run = await up(binary, dir, await freePort());
      const ours = await pids(dir, 'programs');
      expect(ours.length).toBe(2);
      for (const pid of [run.pid, ...ours]) process.kill(pid, 'SIGKILL');
      await noProcesses(dir, 2_000);
      expect(await folders(dir)).toEqual([]);
    });

    test('what even a killed guard left is ended by the next run', async () => {
      const dir = await tempDir();
      const port = await freePort();
      const run = await up(binary, dir, port);
      const ours = [...(await pids(dir, 'programs')), ...(await pids(dir, 'haptic-guard'))];
      expect(ours.length).toBe(3);
      for (const pid of [run.pid, ...ours]) process.kill(pid, 'SIGKILL');
      await run.ended();
      expect((await request(port)).status).toBe(200);
      const left = await pids(dir, 'master.sock');
      expect(left.length).toBeGreaterThan(0);

      const next = await up(binary, dir, port);
      // The one that was left answers until it is ended.
      const isLeft = (pid: number): boolean => left.includes(pid);
      await until(async () => !(await pids(dir, 'master.sock')).some(isLeft), { what: next.output() });
      await until(async () => (await request(port)).body.toString() === 'up one');
      expect((await folders(dir)).length).toBe(1);
    });

    test('a killed agent or supervisor costs no request; a killed HAProxy is back on the same files', async () => {
      const dir = await tempDir();
      const run = await up(binary, dir, await freePort());
      const load = traffic({ port: run.port, clients: 2 });
      for (const name of ['haproxy', 'agent']) {
        const [before] = await pids(dir, `haptic.ts ${name} `);
        process.kill(before!, 'SIGKILL');
        await until(async () => (await pids(dir, `haptic.ts ${name} `)).some((pid) => pid !== before));
      }
      await until(() => run.output().includes('going on with the HAProxy'), { what: run.output() });
      expect(await load.stop()).toMatchObject({ failed: 0, failures: [] });

      const [folder] = await folders(dir);
      const record = await readFile(join(dir, folder!, 'haproxy.json'), 'utf8');
      const { master } = JSON.parse(record) as { master: number };
      process.kill(master, 'SIGKILL');
      const startedAt = performance.now();
      await until(async () => (await request(run.port)).body.toString() === 'up one');
      expect(performance.now() - startedAt).toBeLessThan(2_000);
    });

    test('a folder that is kept holds the files for the next run', async () => {
      const [dir, kept] = [await tempDir(), await tempDir()];
      const runtime = join(dir, 'run');
      await mkdir(runtime);
      const port = await freePort();
      const first = await up(binary, runtime, port, [`--dir=${kept}`]);
      process.kill(first.pid, 'SIGTERM');
      await first.ended();
      expect(await readdir(join(kept, 'current'))).toContain('haproxy.cfg');
      await up(binary, runtime, port, [`--dir=${kept}`]);
    });
  },
  ['3.4'],
);
