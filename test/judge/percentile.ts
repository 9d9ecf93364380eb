/** The value below which the share of all values is. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const found = sorted[Math.ceil(sorted.length * share) - 1];
  if (found === undefined) throw new Error('nothing was measured');
  return found;
}
