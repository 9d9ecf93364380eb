import { Bench } from 'tinybench';

/** One measured number. */
export interface BenchResult {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What it is compared with, in the same unit. */
  readonly baseline?: number;
  /** `value` over `baseline`. */
  readonly ratio?: number;
}

/** What every `*.bench.ts` exports as `run`. Those that measure several sizes can be told which; the others do not listen. */
export type RunBench = (sizes?: readonly number[]) => Promise<readonly BenchResult[]>;

export function compared(result: BenchResult, baseline: number): BenchResult {
  return { ...result, baseline, ratio: result.value / baseline };
}

/** The median time of one call in milliseconds. The first calls, before the code is compiled, do not count. */
export async function median(name: string, call: () => unknown, { ms = 1_000 } = {}): Promise<BenchResult> {
  const bench = new Bench({ time: ms, warmupTime: ms / 4 });
  bench.add(name, call);
  const [task] = await bench.run();
  const result = task!.result;
  if (result.state !== 'completed') {
    throw new Error(`bench "${name}" did not complete`, {
      cause: 'error' in result ? result.error : undefined,
    });
  }
  return { name, value: result.latency.p50, unit: 'ms' };
}
