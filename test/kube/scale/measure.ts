import { readFile } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';

export const MIB = 1024 * 1024;

/** Resident memory of a process now, and the most that it ever had; bytes. */
export async function residentMemory(pid: number): Promise<{ readonly now: number; readonly peak: number }> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * 1024;
  return { now: field('VmRSS'), peak: field('VmHWM') };
}

/** Of a process and of its children that have ended, seconds: a busy machine does not make it more. */
export async function cpuSeconds(pid: number): Promise<{ readonly own: number; readonly children: number }> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  // Behind the name, which may hold anything; hundredths of a second.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number);
  return { own: (user + system) / 100, children: (childUser + childSystem) / 100 };
}

/** 0 < share ≤ 1, of numbers in any order. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** One line for whoever runs it: the numbers are what a run is for. */
export function tell(what: string, values: Readonly<Record<string, number | string>>): void {
  const words = Object.entries(values).map(
    ([name, value]) => `${name} ${typeof value === 'number' ? Math.round(value * 10) / 10 : value}`,
  );
  console.log(`${what}: ${words.join(', ')}`);
}

/** Milliseconds until it holds; asked again at once, since what is measured is shorter than a usual pause. */
export async function timeUntil(
  condition: () => Promise<boolean>,
  { since, deadlineMs }: { readonly since: number; readonly deadlineMs: number },
): Promise<number> {
  while (!(await condition())) {
    if (performance.now() - since > deadlineMs) throw new Error(`not met within ${deadlineMs} ms`);
    await turn();
  }
  return performance.now() - since;
}

/** Runs it one after the other in so many loops, until there are enough: how long each took and how many a second there were. */
export async function closedLoop(
  { loops, count }: { readonly loops: number; readonly count: number },
  work: (index: number) => Promise<unknown>,
): Promise<{ readonly latencies: readonly number[]; readonly perSecond: number }> {
  const latencies: number[] = [];
  const begun = performance.now();
  let next = 0;
  const loop = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      const started = performance.now();
      await work(index);
      latencies.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: loops }, loop));
  return { latencies, perSecond: (count * 1_000) / (performance.now() - begun) };
}
