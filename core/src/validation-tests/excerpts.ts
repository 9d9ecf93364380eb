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

/** The first line in which a text is not the wanted one, as both have it; `shown` is the text without its secrets. */
export function firstDifference(
  wanted: readonly string[],
  actual: readonly string[],
  shown: readonly string[],
): readonly string[] {
  const index = wanted.findIndex((line, at) => line !== actual[at]);
  const at = index === -1 ? wanted.length : index;
  const show = (lines: readonly string[]): string =>
    at < lines.length ? showLine(lines, at) : '  (ends before)';
  return ['expected:', show(wanted), 'actual:', show(shown)];
}
