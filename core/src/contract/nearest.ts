/** How far a word may be from a name and still be taken for a misspelling of it: a third of its length, at least one edit. */
function threshold(word: string): number {
  return Math.max(1, Math.floor(word.length / 3));
}

/**
 * Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`; `limit + 1` as soon as it must be more than `limit`.
 */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, beforePrevious[j - 2]! + 1);
      }
      row.push(best);
    }
    if (Math.min(...row) > limit) return limit + 1;
    beforePrevious = previous;
    previous = row;
  }
  return previous[b.length]!;
}

/** Words beyond this are nobody's misspelling, and comparing them would cost the square of their length. */
const LONGEST_WORD = 128;

/**
 * The candidate that `word` most likely misspells, undefined when none is near. A difference of case alone counts as near; of
 * equally near candidates the first in code-unit order is taken, so the answer does not depend on the order of candidates.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length === 0 || word.length > LONGEST_WORD) return undefined;
  const folded = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = threshold(word) + 1;
  for (const candidate of candidates) {
    if (candidate === word) return candidate;
    const found = distance(folded, candidate.toLowerCase(), threshold(word));
    if (found < bestDistance || (found === bestDistance && best !== undefined && candidate < best)) {
      best = candidate;
      bestDistance = found;
    }
  }
  return best;
}

/** Ends an error message: `, did you mean "x"?`, or nothing when no candidate is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const found = nearest(word, candidates);
  return found === undefined ? '' : `, did you mean "${found}"?`;
}
