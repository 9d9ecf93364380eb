import { execa } from 'execa';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cacheDirectory } from '../cache/cache-directory.ts';
import type { Run } from '../cache/command.ts';
import { withFileLock } from '../cache/file-lock.ts';
import { linkerFlags } from './linker-flags.ts';
import { toolVersion } from './probe.ts';
import type { Program } from './programs.ts';

const REPORT_EVERY_MS = 20_000;
/** A cold build of an API server takes minutes on two cores; more than this is a hang. */
const BUILD_DEADLINE_MS = 3_600_000;

function cachedPath(program: Program, version: string): string {
  const name = program.requires === 'k8s.io/kubernetes' ? version : `${program.tool}-${version}`;
  return join(cacheDirectory(), 'kube', name, program.tool);
}

/** The cached program; undefined when there is none. */
export async function installedTool(program: Program, version: string): Promise<string | undefined> {
  const binary = cachedPath(program, version);
  return (await toolVersion(program, binary)) === version ? binary : undefined;
}

/**
 * Builds the program from the Go modules that our go.mod and go.sum pin. Processes that want the same wait for each other; an
 * interrupted build goes on where it was, since Go keeps each compiled package; no half-written program is ever in place.
 */
export async function installFromModules(run: Run, program: Program, version: string): Promise<string> {
  const binary = cachedPath(program, version);
  const folder = join(binary, '..');
  await mkdir(folder, { recursive: true });
  await requireGo();
  const waiting = setInterval(
    () => run.log(`waiting for another build of ${program.tool} ${version}`),
    REPORT_EVERY_MS,
  );
  return withFileLock(join(folder, '.lock'), run.signal, async (lock) => {
    clearInterval(waiting);
    const there = await installedTool(program, version);
    if (there !== undefined) return there;
    const partial = join(folder, `.${program.tool}.partial`);
    await build({ ...run, lock }, program, version, partial);
    const told = await toolVersion(program, partial);
    if (told !== version)
      throw new Error(`the built ${program.tool} says it is ${told ?? 'nothing'}, not ${version}`);
    await rename(partial, binary);
    return binary;
  }).finally(() => clearInterval(waiting));
}

async function requireGo(): Promise<void> {
  const result = await execa('go', ['env', 'GOVERSION'], { reject: false, stdin: 'ignore' });
  if (result.failed) throw new Error('go does not run');
  const [, major = '0', minor = '0'] = /^go(\d+)\.(\d+)/.exec(result.stdout) ?? [];
  if (Number(major) === 1 && Number(minor) < 21)
    throw new Error(`${result.stdout} is too old, 1.21 is needed`);
}

async function build(run: Required<Run>, program: Program, version: string, output: string): Promise<void> {
  const args = ['build', '-v', '-trimpath', '-buildvcs=false', '-mod=readonly'];
  args.push('-ldflags', linkerFlags(program, version), '-o', output, program.main);
  const started = performance.now();
  const seconds = (): number => Math.round((performance.now() - started) / 1000);
  run.log(`building ${program.tool} ${version}; the first build of a machine takes minutes`);
  // A build is work for idle processors: whoever waits for it is not hurt, whoever works beside it is spared.
  const child = execa('nice', ['-n', '19', 'go', ...args], {
    cwd: program.directory,
    env: { CGO_ENABLED: '0', GOTOOLCHAIN: 'auto', GOWORK: 'off', GOFLAGS: '' },
    // A build that outlives us holds the lock: two must not write one file. (execa's types name only small descriptors.)
    stdio: ['ignore', 'pipe', 'pipe', run.lock as 3],
    reject: false,
    timeout: BUILD_DEADLINE_MS,
    ...(run.signal === undefined ? {} : { cancelSignal: run.signal }),
  });
  const packages = { done: 0 };
  const report = setInterval(
    () => run.log(`building ${program.tool} ${version}: ${packages.done} packages, ${seconds()} s`),
    REPORT_EVERY_MS,
  );
  const lines = createInterface(child.stderr).on('line', () => void (packages.done += 1));
  const result = await child;
  clearInterval(report);
  lines.close();
  run.signal?.throwIfAborted();
  if (result.failed) throw new Error(failureOf(result.stderr) || result.shortMessage);
  run.log(`built ${program.tool} ${version} in ${seconds()} s (${packages.done} packages)`);
}

/** The last lines that are not names of compiled packages. */
function failureOf(stderr: string): string {
  const words = stderr.split('\n').filter((line) => /[\s:]/.test(line.trim()));
  return words.slice(-5).join(' | ');
}
