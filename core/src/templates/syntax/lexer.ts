import type { Problems } from '../problems.ts';
import type { TemplateSource } from '../source.ts';
import { findTagEnd } from './tag-end.ts';

/** A piece of a template. `start` and `end` are offsets; of a tag they include its delimiters. */
export type Token =
  | { readonly kind: 'text'; start: number; end: number }
  | { readonly kind: 'comment'; readonly start: number; readonly end: number }
  | {
      readonly kind: 'output' | 'tag';
      readonly start: number;
      readonly end: number;
      /** Where the content between the delimiters (and trim marks) stands. */
      readonly inner: { readonly start: number; readonly end: number };
      /** Nothing else stands on its line(s). Set by `settleLines`. */
      alone?: boolean;
      /** Of an output that is alone: the line ends behind it, which is the output's to write. */
      lineEnd?: boolean;
    };

const opener = /\{[{%#]/g;
const verbatimTag = /^\s*verbatim\s*$/;
const endVerbatim = /\{%-?\s*endverbatim\s*-?%\}/g;
const closes = { '{{': '}}', '{%': '%}', '{#': '#}' } as const;

type Opener = keyof typeof closes;

/** Splits a template into text, outputs, tags and comments. An unclosed tag is a problem, and the rest of the text is lost to it. */
export class Lexer {
  readonly #source: TemplateSource;
  readonly #problems: Problems;
  readonly #tokens: Token[] = [];
  #at = 0;
  /** A `-}}` came last: the white space that follows belongs to nobody. */
  #trimNext = false;

  constructor(source: TemplateSource, problems: Problems) {
    this.#source = source;
    this.#problems = problems;
  }

  tokens(): Token[] {
    const { text } = this.#source;
    while (this.#at < text.length) {
      opener.lastIndex = this.#at;
      const found = opener.exec(text);
      this.#text(this.#at, found?.index ?? text.length);
      if (found === null) break;
      this.#delimited(found.index, found[0] as Opener);
    }
    return this.#tokens;
  }

  #text(start: number, end: number): void {
    const { text } = this.#source;
    let from = start;
    if (this.#trimNext) while (from < end && isSpace(text.charCodeAt(from))) from++;
    if (from < end) {
      this.#trimNext = false;
      this.#tokens.push({ kind: 'text', start: from, end });
    }
    this.#at = end;
  }

  #delimited(start: number, open: Opener): void {
    const { text } = this.#source;
    const close = closes[open];
    const marked = text[start + 2] === '-';
    const from = start + (marked ? 3 : 2);
    const at = open === '{#' ? text.indexOf(close, from) : findTagEnd(text, from, close);
    if (at === -1) {
      this.#problems.add(this.#source, start, `"${open}" is never closed by "${close}"`);
      this.#at = text.length;
      return;
    }
    if (marked) this.#trimBefore();
    const trims = at > from && text[at - 1] === '-';
    const inner = { start: from, end: trims ? at - 1 : at };
    const end = at + 2;
    this.#at = end;
    this.#trimNext = trims;
    if (open === '{%' && verbatimTag.test(text.slice(inner.start, inner.end))) this.#verbatim(start, end);
    else if (open === '{#') this.#tokens.push({ kind: 'comment', start, end });
    else this.#tokens.push({ kind: open === '{{' ? 'output' : 'tag', start, end, inner });
  }

  #verbatim(start: number, end: number): void {
    endVerbatim.lastIndex = end;
    const close = endVerbatim.exec(this.#source.text);
    if (close === null) {
      this.#problems.add(this.#source, start, 'expected {% endverbatim %}');
      this.#at = this.#source.text.length;
      return;
    }
    this.#tokens.push({ kind: 'comment', start, end });
    this.#text(end, close.index);
    if (close[0].startsWith('{%-')) this.#trimBefore();
    this.#at = close.index + close[0].length;
    this.#trimNext = close[0].endsWith('-%}');
    this.#tokens.push({ kind: 'comment', start: close.index, end: this.#at });
  }

  #trimBefore(): void {
    const last = this.#tokens.at(-1);
    if (last?.kind !== 'text') return;
    while (last.end > last.start && isSpace(this.#source.text.charCodeAt(last.end - 1))) last.end--;
    if (last.end === last.start) this.#tokens.pop();
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d;
}
