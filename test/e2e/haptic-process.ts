import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { onCleanup } from '../haproxy/cleanup.ts';
import { freePort } from '../haproxy/free-port.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';

export const root = join(import.meta.dirname, '../..');
const program = join(root, 'cli/bin/haptic.mjs');

/** Generous: the machine may do much else. */
const START_MS = 50_000;

/**
 * Where a run keeps everything temporary. Its processes are found by it, whoever their parent is now, since they all inherit the
 * environment that names it.
 */
export interface Place {
  readonly dir: string;
  readonly env: NodeJS.ProcessEnv;
}

export async function place(): Promise<Place> {
  const dir = await tempDir();
  // What somebody has set for their own runs must not change ours; where HAProxy is found may.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('HAPTIC_') || /^HAPTIC_(?:CACHE|HAPROXY_\d)/.test(name),
  );
  // npm would leave its compiled code in the temp folder.
  const own = { TMPDIR: dir, XDG_RUNTIME_DIR: dir, NODE_DISABLE_COMPILE_CACHE: '1' };
  return { dir, env: { ...Object.fromEntries(inherited), ...own } };
}

/** The living processes of a place, as `pid: command line`. */
export async function processesOf({ dir }: Place): Promise<readonly string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const read = (name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
    if (!(await read('environ')).split('\0').includes(`XDG_RUNTIME_DIR=${dir}`)) continue;
    found.push(`${pid}: ${(await read('cmdline')).split('\0').join(' ')}`);
  }
  return found;
}

/** Pids of the processes of a place with this in their command line. */
export async function pidsOf(at: Place, word: string): Promise<readonly number[]> {
  return (await processesOf(at)).filter((line) => line.includes(word)).map((line) => Number.parseInt(line));
}

/** Waits until nothing of a place runs and its folder is empty. @throws Error that names what is left. */
export async function noTrace(at: Place, deadlineMs: number): Promise<void> {
  const left = async (): Promise<readonly string[]> => [
    ...(await processesOf(at)),
    ...(await readdir(at.dir)),
  ];
  await until(async () => (await left()).length === 0, { deadlineMs }).catch(async (error: Error) => {
    throw new Error(`left of the run:\n${(await left()).join('\n')}`, { cause: error });
  });
}

export interface Running {
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** Settles with the exit code or the signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Starts a program as the leader of a process group, as a shell would; the group is killed at the end of the test. */
export function start(command: string, args: readonly string[], at: Place): Running {
  const child = spawn(command, args, {
    cwd: root,
    env: at.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  onCleanup(async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL');
    await until(async () => (await processesOf(at)).length === 0);
  });
  return {
    pid: child.pid!,
    stdout: () => Buffer.concat(out).toString(),
    stderr: () => Buffer.concat(err).toString(),
    ended,
  };
}

/** Waits for something that a running program does; it ending instead is a failure at once. */
export async function untilServing(running: Running, isServing: () => boolean): Promise<void> {
  const words = (): string => `\n${running.stdout()}\n${running.stderr()}`;
  const died = running.ended.then((how) => {
    throw new Error(`it ended with ${how} before it served:${words()}`);
  });
  const serving = until(isServing, { deadlineMs: START_MS }).catch((error: Error) => {
    throw new Error(`${error.message}${words()}`, { cause: error });
  });
  await Promise.race([serving, died]);
  died.catch(() => undefined);
}

/** One line of `haptic up --output json`. */
export interface UpEvent {
  readonly event: string;
  readonly [field: string]: unknown;
}

/** One line of its log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export interface Up extends Running, Place {
  readonly port: number;
  events(): readonly UpEvent[];
  log(): readonly LogLine[];
  /** What was logged at the level `error`. */
  errors(): readonly LogLine[];
}

export interface UpOptions {
  readonly haproxy: string;
  readonly resources: readonly string[];
  readonly args?: readonly string[];
  /** A new one by default. */
  readonly at?: Place;
  /** A free one by default. */
  readonly port?: number;
}

/** Starts `haptic up` and waits until it serves. */
export async function up(options: UpOptions): Promise<Up> {
  const run = await startUp(options);
  await untilServing(run, () => run.events().some(({ event }) => event === 'serving'));
  return run;
}

/** Starts `haptic up`, which may have nothing that it can serve. */
export async function startUp({ haproxy, resources, args = [], ...options }: UpOptions): Promise<Up> {
  const at = options.at ?? (await place());
  const port = options.port ?? (await freePort());
  const folders = resources.map((folder) => `--resources=${folder}`);
  const flags = [`--haproxy=${haproxy}`, `--http-port=${port}`, '--output=json', ...folders, ...args];
  const running = start(process.execPath, ['--conditions=source', program, 'up', ...flags], at);
  const events = (): readonly UpEvent[] => jsonLines(running.stdout()) as readonly UpEvent[];
  const log = (): readonly LogLine[] => jsonLines(running.stderr()) as readonly LogLine[];
  const errors = (): readonly LogLine[] => log().filter(({ level }) => level === 'error');
  return { ...running, ...at, port, events, log, errors };
}

/** The whole lines; the last one may be half-written. */
function jsonLines(text: string): readonly unknown[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
}

export interface Result {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command to its end, in an empty folder unless told otherwise. */
export async function haptic(args: readonly string[], cwd?: string): Promise<Result> {
  const at = await place();
  const { exitCode, stdout, stderr } = await execa(
    process.execPath,
    ['--conditions=source', program, ...args],
    { cwd: cwd ?? at.dir, env: at.env, extendEnv: false, reject: false, timeout: START_MS },
  );
  return { exitCode, stdout, stderr };
}
