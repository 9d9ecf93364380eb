/** Enough to recognise a place, little enough to read many. */
export const MOST_LINES = 3;
const WIDEST = 160;

/** One of the lines of a text as a message shows it: numbered, shortened, without control characters. */
export function showLine(lines: readonly string[], index: number): string {
  const line = (lines[index] ?? '').replaceAll(/\p{Cc}/gu, ' ');
  return `  ${index + 1} | ${line.length > WIDEST ? `${line.slice(0, WIDEST)}…` : line}`;
}

/** The line (from 0) that an offset of a text is in. */
export function lineAt(text: string, offset: number): number {
  let line = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

/** The lines that have most words of a pattern: where it was likely meant to match. */
export function similarLines(lines: readonly string[], pattern: string): readonly string[] {
  const words = new Set(pattern.match(/\w{3,}/g));
  const scored = lines
    .map((line, index) => ({ index, score: [...words].filter((word) => line.includes(word)).length }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.index - b.index);
  return scored.slice(0, MOST_LINES).map(({ index }) => showLine(lines, index));
}

/** The first line in which two texts differ, which may be one behind the last of one of them. */
export function firstDifference(wanted: readonly string[], actual: readonly string[]): number {
  const index = wanted.findIndex((line, at) => line !== actual[at]);
  return index === -1 ? wanted.length : index;
}

/** That line as both have it. */
export function showDifference(
  at: number,
  wanted: readonly string[],
  actual: readonly string[],
): readonly string[] {
  const show = (lines: readonly string[]): string =>
    at < lines.length ? showLine(lines, at) : '  (ends before)';
  return ['expected:', show(wanted), 'actual:', show(actual)];
}
