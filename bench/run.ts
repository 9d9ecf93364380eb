import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchResult, RunBench } from './bench.ts';

/** `npm run bench [-- NAME [SIZE…]]`: all benches, or those whose file name holds NAME, where they have sizes in these. */
const [wanted = '', ...sizes] = process.argv.slice(2);

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function row({ name, value, unit, baseline, ratio }: BenchResult): Record<string, string> {
  return {
    name,
    value: `${round(value)} ${unit}`,
    baseline: baseline === undefined ? '' : `${round(baseline)} ${unit}`,
    ratio: ratio === undefined ? '' : round(ratio),
  };
}

const files = (await readdir(import.meta.dirname)).filter((name) => name.endsWith('.bench.ts')).sort();
const results: BenchResult[] = [];
for (const file of files.filter((name) => name.includes(wanted))) {
  const { run } = (await import(join(import.meta.dirname, file))) as { readonly run: RunBench };
  results.push(...(await run(...(sizes.length > 0 ? [sizes.map(Number)] : []))));
}
console.table(Object.fromEntries(results.map((result, index) => [index + 1, row(result)])));
