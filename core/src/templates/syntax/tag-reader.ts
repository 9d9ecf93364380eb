import type { Expression, Span } from '../expression/ast.ts';
import { parseExpression, parseExpressionPrefix, parseExpressions } from '../expression/parse.ts';
import { SyntaxProblem } from '../problems.ts';
import type { Name, Quoted } from './nodes.ts';

const space = /\s*/y;
const identifier = /[A-Za-z_$][\w$]*/y;
const quoted = /"[^"\\\n]*"|'[^'\\\n]*'/y;

/** Reads the content of one tag from left to right. All methods throw SyntaxProblem. */
export class TagReader {
  readonly text: string;
  readonly end: number;
  #at: number;

  constructor(text: string, inner: Span) {
    this.text = text;
    this.#at = inner.start;
    this.end = inner.end;
    this.#skipSpace();
  }

  get at(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.end;
  }

  tryName(): Name | undefined {
    const found = this.#match(identifier);
    if (found === undefined) return undefined;
    const { start, end } = found;
    return { name: this.text.slice(start, end), start, end };
  }

  name(expected: string): Name {
    return this.tryName() ?? this.#expected(expected);
  }

  /** Eats the word or sign when it comes next. */
  eat(token: string): boolean {
    if (!this.text.startsWith(token, this.#at) || this.#at + token.length > this.end) return false;
    const after = this.text[this.#at + token.length] ?? '';
    if (/\w$/.test(token) && /[\w$]/.test(after)) return false;
    this.#at += token.length;
    this.#skipSpace();
    return true;
  }

  expect(token: string): void {
    if (!this.eat(token)) this.#expected(`"${token}"`);
  }

  quoted(expected: string): Quoted {
    const found = this.#match(quoted) ?? this.#expected(`${expected} in quotes`);
    return { value: this.text.slice(found.start + 1, found.end - 1), ...found };
  }

  /** All that is left, as one expression. */
  expression(): Expression {
    const expression = parseExpression(this.text, this.#at, this.end);
    this.#at = this.end;
    return expression;
  }

  /** All that is left, as `count.min` to `count.max` expressions with commas between. */
  expressions(shape: string, count: { readonly min: number; readonly max: number }): readonly Expression[] {
    const found = parseExpressions(this.text, this.#at, this.end);
    if (found.length < count.min || found.length > count.max) {
      throw new SyntaxProblem(this.#at, `expected {% ${shape} %}`);
    }
    this.#at = this.end;
    return found;
  }

  /** One expression; what follows it is read next. */
  expressionPrefix(): Expression {
    const { expression, end } = parseExpressionPrefix(this.text, this.#at, this.end);
    this.#at = end;
    this.#skipSpace();
    return expression;
  }

  expectEnd(): void {
    if (!this.isAtEnd) this.#expected('the end of the tag');
  }

  #expected(what: string): never {
    throw new SyntaxProblem(Math.min(this.#at, this.end), `expected ${what}`);
  }

  #match(pattern: RegExp): Span | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text);
    const end = this.#at + (found?.[0].length ?? 0);
    if (found === null || end > this.end) return undefined;
    const start = this.#at;
    this.#at = end;
    this.#skipSpace();
    return { start, end };
  }

  #skipSpace(): void {
    space.lastIndex = this.#at;
    this.#at = Math.min(this.#at + (space.exec(this.text)?.[0].length ?? 0), this.end);
  }
}
