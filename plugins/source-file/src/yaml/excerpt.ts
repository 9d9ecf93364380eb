import type { Position } from '@haptic/core/contract';

const WIDEST = 120;

/** Control characters would move the caret, or the cursor of whoever reads the log. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ');
}

/** The line of a position with a caret below it; of a long line the part around the column. */
export function excerpt(
  lines: readonly string[],
  { line, column }: Pick<Position, 'line' | 'column'>,
): string {
  const text = printable(lines[line - 1] ?? '');
  const from = Math.max(0, column - 1 - WIDEST / 2);
  const margin = `${line} | `;
  const shown = `${from > 0 ? '…' : ''}${text.slice(from, from + WIDEST)}${from + WIDEST < text.length ? '…' : ''}`;
  const caret = ' '.repeat(margin.length - 2 + column - 1 - from + (from > 0 ? 1 : 0));
  return `  ${margin}${shown}\n  ${caret.replace(/^/, ' '.repeat(2))}^`;
}
