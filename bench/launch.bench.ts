import { Launcher } from '../plugins/validator-haproxy/src/process/launcher.ts';
import { compared, median, type BenchResult } from './bench.ts';

const MIB = 1024 * 1024;
const LARGE_MIB = 600;
const limits = { timeoutMs: 10_000, maxOutput: 1024, signal: new AbortController().signal };

async function startedBy(name: string, launcher: Launcher): Promise<BenchResult> {
  return await median(`launch: a program from a process of ${name}`, () =>
    launcher.run('/bin/true', [], limits),
  );
}

/** A check of a configuration takes a process, and to start one everything else of the controller stands still. */
export async function run(): Promise<readonly BenchResult[]> {
  const small = await startedBy('a few MiB', new Launcher(Infinity));
  const memory = Array.from({ length: LARGE_MIB }, () => Buffer.alloc(MIB, 1));
  const direct = await startedBy(`${memory.length} MiB`, new Launcher(Infinity));
  const launcher = new Launcher(0);
  const launched = await startedBy(`${memory.length} MiB, by its launcher`, launcher);
  await launcher.dispose();
  return [small, compared(direct, small.value), compared(launched, small.value)];
}
