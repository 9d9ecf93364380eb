import { parseExpressionAt, type Expression as AcornExpression, type Options } from 'acorn';
import { SyntaxProblem } from '../problems.ts';
import type { Expression } from './ast.ts';
import { checkExpression } from './check.ts';

const options: Options = { ecmaVersion: 2024, sourceType: 'module', preserveParens: true };

/** acorn says `Unexpected token (1:5)`; the place is reported apart. */
function messageOf(error: unknown): string {
  const message = (error as Error).message.replace(/ \(\d+:\d+\)$/, '');
  return `not an expression: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}

/** Makes offsets in an expression those of its template. */
function moveBy(node: object, by: number): void {
  if ('start' in node && 'end' in node) {
    const span = node as { start: number; end: number };
    span.start += by;
    span.end += by;
  }
  for (const child of Object.values(node) as unknown[]) {
    if (typeof child === 'object' && child !== null && !(child instanceof RegExp)) moveBy(child, by);
  }
}

function parseWithAcorn(text: string, start: number, end: number): AcornExpression {
  const onComment = (_block: boolean, _text: string, at: number): void => {
    throw new SyntaxProblem(start + at, 'a comment stands in {# … #}, not in a tag');
  };
  try {
    // Only this text: acorn looks at all of what it gets, and a template has thousands of expressions.
    const node = parseExpressionAt(text.slice(start, end), 0, { ...options, onComment });
    moveBy(node, start);
    return node;
  } catch (error) {
    if (error instanceof SyntaxProblem) throw error;
    if (error instanceof RangeError) throw new SyntaxProblem(start, 'nested too deeply: not enough stack');
    const at = start + ((error as { pos?: number }).pos ?? 0);
    throw new SyntaxProblem(Math.min(at, end), messageOf(error));
  }
}

/** What other template languages have for operators. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ['and', 'write "&&" for "and"'],
  ['or', 'write "||" or "??" for "or"'],
  ['is', 'write "===", or "=== undefined" for what is not defined'],
  ['if', 'write "test ? a : b"'],
]);

/** White space at most between `from` and `end`, else a problem there. */
function expectEnd(text: string, from: number, end: number): void {
  const rest = text.slice(from, end);
  if (rest.trim() === '') return;
  const word = /^\s*(\w+)/.exec(rest)?.[1] ?? '';
  const before = /(\w+)\s*$/.exec(text.slice(0, from))?.[1];
  const hint = before === 'not' ? 'write "!" for "not"' : otherWords.get(word);
  const message = `expected the end of the expression${hint === undefined ? '' : `: ${hint}`}`;
  throw new SyntaxProblem(from + rest.search(/\S/), message);
}

/**
 * The expressions between `start` and `end`, separated by commas.
 * @throws SyntaxProblem with the place of the first mistake.
 */
export function parseExpressions(text: string, start: number, end: number): readonly Expression[] {
  if (text.slice(start, end).trim() === '') throw new SyntaxProblem(start, 'expected an expression');
  const node = parseWithAcorn(text, start, end);
  expectEnd(text, node.end, end);
  const parts = node.type === 'SequenceExpression' ? node.expressions : [node];
  return parts.map((part) => checkExpression(part));
}

/** The one expression between `start` and `end`. @throws SyntaxProblem */
export function parseExpression(text: string, start: number, end: number): Expression {
  const [first, second] = parseExpressions(text, start, end);
  if (second !== undefined) throw new SyntaxProblem(second.start, 'expected one expression, without a comma');
  return first!;
}

/** The expression that begins at `start` up to a comma, and where it ends. What follows is the caller's. @throws SyntaxProblem */
export function parseExpressionPrefix(
  text: string,
  start: number,
  end: number,
): { readonly expression: Expression; readonly end: number } {
  if (text.slice(start, end).trim() === '') throw new SyntaxProblem(start, 'expected an expression');
  const node = parseWithAcorn(text, start, end);
  const first = node.type === 'SequenceExpression' ? node.expressions[0]! : node;
  return { expression: checkExpression(first), end: first.end };
}
