import { append } from './text-mode.ts';
import type { PrintedValue, TextMode, TextReport } from './text-mode.ts';

const nowhere = {};

function print(name: string, value: PrintedValue, report: TextReport) {
  if (value.filters.size > 0) {
    report.problem(
      `"${[...value.filters][0]}" is about HAProxy's configuration; here values stand as they are`,
    );
  }
  const text = `${name}(${value.code}, ${value.site})`;
  // A text that ends its line brings no second line end.
  return { code: `o += ${value.lineEnd ? `withoutLineEnd(${text})` : text};`, state: nowhere };
}

function literalMode(name: 'plain' | 'pem'): TextMode {
  return {
    name,
    start: () => nowhere,
    read: (_state, text) => ({ code: append(text), state: nowhere }),
    print: (_state, value, report) => print(name, value, report),
    insert: () => ({ code: '', state: nowhere }),
    merge: () => nowhere,
    isSame: () => true,
    end: () => '',
  };
}

/** Files of any kind: values stand as they are. */
export const plainMode = literalMode('plain');

/** PEM files: values stand as they are, and hold what a PEM file can hold. */
export const pemMode = literalMode('pem');
