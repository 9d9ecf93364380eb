import type { AnyNode } from 'acorn';
import { SyntaxProblem } from '../problems.ts';

const operators = new Set(['LogicalExpression', 'ConditionalExpression', 'UnaryExpression']);

function isPipe(node: AnyNode): boolean {
  return node.type === 'BinaryExpression' && node.operator === '|';
}

function isOperator(node: AnyNode): boolean {
  return operators.has(node.type) || (node.type === 'BinaryExpression' && node.operator !== '|');
}

/**
 * A filter never stands next to an operator, since `a ?? b | f` reads as `(a ?? b) | f` and means `a ?? (b | f)`.
 * @throws SyntaxProblem
 */
export function checkPipe(node: AnyNode, operands: readonly AnyNode[]): void {
  const wrong = operands.find(isPipe(node) ? isOperator : isPipe);
  if (wrong === undefined) return;
  throw new SyntaxProblem(
    wrong.start,
    'a filter stands next to an operator: put parentheses around what it applies to',
  );
}
