import type { Position, Problem } from '../contract/index.ts';

/** Longest part of a line that an excerpt shows. */
const EXCERPT_WIDTH = 120;

/** A place in a template, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** The text of one template, with the way from an offset to what a reader can find. Line ends are LF. */
export class TemplateSource {
  /** As messages name it: the snippet's name, `haproxyConfig`, `files/<name>`. */
  readonly name: string;
  /** The library or config that owns it. */
  readonly owner: string;
  readonly text: string;
  /** Where the text begins in its file. */
  readonly #begin: Position | undefined;
  #lineStarts: number[] | undefined;

  constructor(name: string, owner: string, text: string, begin?: Position) {
    this.name = name;
    this.owner = owner;
    this.text = text.replaceAll('\r\n', '\n');
    this.#begin = begin;
  }

  place(offset: number): Place {
    const starts = this.#starts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - starts[low]! + 1 };
  }

  /** `snippet:line:column`, and the place in the file where that is known. */
  where(offset: number): string {
    const { line, column } = this.place(offset);
    const own = `${this.name}:${line}:${column}`;
    if (this.#begin === undefined) return own;
    const { file, line: first, column: indent } = this.#begin;
    return `${own} (${file}:${first + line - 1}:${indent + column - 1})`;
  }

  problem(offset: number, message: string): Problem {
    return { where: this.where(offset), message, excerpt: this.#excerpt(offset) };
  }

  /** The line and, below it, a caret; of a long line only what stands around the caret. */
  #excerpt(offset: number): string {
    const { line, column } = this.place(offset);
    const start = this.#starts()[line - 1]!;
    const end = this.text.indexOf('\n', start);
    const whole = this.text.slice(start, end === -1 ? undefined : end);
    const from = Math.max(0, Math.min(column - 1 - EXCERPT_WIDTH / 2, whole.length - EXCERPT_WIDTH));
    // Control characters would move the caret, or a terminal.
    const shown = whole.slice(from, from + EXCERPT_WIDTH).replaceAll(/[\0-\x1f\x7f]/g, ' ');
    return `  ${shown}\n  ${' '.repeat(column - 1 - from)}^`;
  }

  #starts(): number[] {
    if (this.#lineStarts !== undefined) return this.#lineStarts;
    const starts = [0];
    for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1))
      starts.push(at + 1);
    this.#lineStarts = starts;
    return starts;
  }
}
