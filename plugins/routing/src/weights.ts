/** A letter for each target of a weighted route. */
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
export const mostTargets = letters.length;
const largestTotal = 1000;

/** Shares as small integers in the same proportion: divided by what they have in common, and at most about 1000 in all. */
export function shares(weights: readonly number[]): readonly number[] {
  const divisor = weights.reduce(greatestCommonDivisor, 0) || 1;
  const reduced = weights.map((weight) => weight / divisor);
  const total = reduced.reduce((sum, weight) => sum + weight, 0);
  if (total <= largestTotal) return reduced;
  return reduced.map((weight) =>
    weight === 0 ? 0 : Math.max(1, Math.round((weight * largestTotal) / total)),
  );
}

/** `<total>|<one letter per share>`, and the letter of each target with a share. */
export function letterShares(weights: readonly number[]): {
  readonly text: string;
  readonly letters: readonly (string | undefined)[];
} {
  const counts = shares(weights);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const text = counts.map((count, index) => letters.charAt(index).repeat(count)).join('');
  return {
    text: `${total}|${text}`,
    letters: counts.map((count, index) => (count === 0 ? undefined : letters.charAt(index))),
  };
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
