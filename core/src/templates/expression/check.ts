import type {
  AnyNode,
  ArrayExpression,
  ArrowFunctionExpression,
  BinaryExpression,
  CallExpression as AcornCall,
  Expression as AcornExpression,
  Literal,
  MemberExpression as AcornMember,
  ObjectExpression,
  Property,
  SpreadElement,
  Super,
  TemplateLiteral,
  UnaryExpression,
} from 'acorn';
import { SyntaxProblem } from '../problems.ts';
import type { ArrowFunction, BinaryOperator, Expression, Item, ObjectEntry, UnaryOperator } from './ast.ts';
import { checkPipe } from './pipe.ts';

/** Deeper expressions are refused before they can exhaust a stack, ours or that of the JavaScript compiler. */
const DEEPEST = 200;

/** What JavaScript puts on every object; templates see own members only. */
const inherited = new Set([
  '__proto__',
  'constructor',
  'prototype',
  '__defineGetter__',
  '__defineSetter__',
  '__lookupGetter__',
  '__lookupSetter__',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  'valueOf',
  'toString',
  'toLocaleString',
]);

const binaryOperators = new Set<string>([
  '+',
  '-',
  '*',
  '/',
  '%',
  '**',
  '<',
  '<=',
  '>',
  '>=',
  '===',
  '!==',
  'in',
]);
const unaryOperators = new Set<string>(['!', '-', '+', 'typeof']);

const hints: Readonly<Record<string, string>> = {
  '==': ', write "==="',
  '!=': ', write "!=="',
  '&': ', write "&&"',
};

/** What is refused, in the words of a template's author. */
const refused: Readonly<Record<string, string>> = {
  AssignmentExpression: '"=" assigns, which an expression does not: compare with "===", or use {% set %}',
  UpdateExpression: 'an expression assigns nothing; use {% set %}',
  NewExpression: '"new" is not part of expressions',
  ThisExpression: '"this" is not part of expressions',
  FunctionExpression: 'functions are not part of expressions: write item => …, or use {% macro %}',
  ClassExpression: '"class" is not part of expressions',
  AwaitExpression: '"await" is not part of expressions',
  YieldExpression: '"yield" is not part of expressions',
  ImportExpression: '"import" is not part of expressions',
  MetaProperty: '"import.meta" and "new.target" are not part of expressions',
  TaggedTemplateExpression: 'tagged templates are not part of expressions',
  SequenceExpression: 'expected one expression, without a comma',
  Super: '"super" is not part of expressions',
  SpreadElement: '"..." stands only in lists and objects',
  ArrowFunctionExpression: 'a function stands only as an argument of a call',
};

function refuse(node: { readonly start: number }, message: string): never {
  throw new SyntaxProblem(node.start, message);
}

/**
 * Turns what acorn read into an expression of the language; everything that is not named here is refused.
 * @throws SyntaxProblem
 */
export function checkExpression(node: AcornExpression | Super | SpreadElement): Expression {
  return check(node, 0);
}

function check(node: AcornExpression | Super | SpreadElement, depth: number): Expression {
  if (depth > DEEPEST) refuse(node, `nested more than ${DEEPEST} deep: not enough stack`);
  const { start, end } = node;
  const inner = (child: AcornExpression | Super): Expression => check(child, depth + 1);
  switch (node.type) {
    case 'ParenthesizedExpression':
      return inner(node.expression);
    case 'Literal':
      return { kind: 'literal', value: literal(node), start, end };
    case 'Identifier':
      return node.name === 'undefined'
        ? { kind: 'literal', value: undefined, start, end }
        : { kind: 'name', name: node.name, start, end };
    case 'TemplateLiteral':
      return template(node, depth);
    case 'ArrayExpression':
      return { kind: 'list', items: items(node, depth), start, end };
    case 'ObjectExpression':
      return { kind: 'object', entries: entries(node, depth), start, end };
    case 'UnaryExpression':
      return { kind: 'unary', operator: unary(node), operand: inner(node.argument), start, end };
    case 'BinaryExpression':
      return binary(node, depth);
    case 'LogicalExpression':
      checkPipe(node, [node.left, node.right]);
      return {
        kind: 'logical',
        operator: node.operator,
        left: inner(node.left),
        right: inner(node.right),
        start,
        end,
      };
    case 'ConditionalExpression':
      checkPipe(node, [node.test, node.consequent, node.alternate]);
      return {
        kind: 'conditional',
        test: inner(node.test),
        consequent: inner(node.consequent),
        alternate: inner(node.alternate),
        start,
        end,
      };
    case 'ChainExpression':
      return { kind: 'chain', body: inner(node.expression), start, end };
    case 'MemberExpression':
      return member(node, depth);
    case 'CallExpression':
      return call(node, depth);
    default:
      return refuse(node, refused[node.type] ?? `${node.type} is not part of expressions`);
  }
}

function literal(node: Literal): string | number | boolean | null {
  if (node.regex != null) refuse(node, 'regular expressions are not values; use matches(text, "pattern")');
  if (node.bigint != null) refuse(node, 'big integers are not part of expressions');
  const { value } = node;
  if (value === Infinity) refuse(node, 'the number is larger than any that can be held');
  if (
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    value === null
  ) {
    return value;
  }
  return refuse(node, 'expected a text, a number, true, false or null');
}

function template(node: TemplateLiteral, depth: number): Expression {
  const texts = node.quasis.map((quasi) => quasi.value.cooked ?? refuse(quasi, 'a broken escape'));
  const holes = node.expressions.map((hole) => check(hole, depth + 1));
  return { kind: 'template', texts, holes, start: node.start, end: node.end };
}

function items(node: ArrayExpression, depth: number): Item[] {
  return node.elements.map((element): Item => {
    if (element === null) return refuse(node, 'a list has no holes: expected a value before ","');
    if (element.type === 'SpreadElement') return { spread: true, value: check(element.argument, depth + 1) };
    return { spread: false, value: check(element, depth + 1) };
  });
}

function entries(node: ObjectExpression, depth: number): ObjectEntry[] {
  return node.properties.map((property): ObjectEntry => {
    if (property.type === 'SpreadElement') {
      return { spread: true, value: check(property.argument, depth + 1) };
    }
    return objectEntry(property, depth);
  });
}

function objectEntry(property: Property, depth: number): ObjectEntry {
  if (property.kind !== 'init' || property.method) refuse(property, 'an object holds values, no functions');
  const value = check(property.value, depth + 1);
  const { key } = property;
  const keySpan = { start: key.start, end: key.end };
  if (property.computed) return { spread: false, key: check(key, depth + 1), keySpan, value };
  const name =
    key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(literal(key)) : undefined;
  if (name === undefined) return refuse(key, 'expected a name');
  if (name === '__proto__') refuse(key, `"${name}" does not exist in templates`);
  return { spread: false, key: name, keySpan, value };
}

function unary(node: UnaryExpression): UnaryOperator {
  checkPipe(node, [node.argument]);
  if (!unaryOperators.has(node.operator)) refuse(node, `"${node.operator}" is not part of expressions`);
  return node.operator as UnaryOperator;
}

function binary(node: BinaryExpression, depth: number): Expression {
  const { operator, start, end } = node;
  if (operator === '|') return pipe(node, depth);
  checkPipe(node, [node.left, node.right]);
  if (!binaryOperators.has(operator)) {
    refuse(node.left, `"${operator}" is not part of expressions${hints[operator] ?? ''}`);
  }
  if (node.left.type === 'PrivateIdentifier')
    return refuse(node.left, 'private names are not part of expressions');
  const left = check(node.left, depth + 1);
  const right = check(node.right, depth + 1);
  return { kind: 'binary', operator: operator as BinaryOperator, left, right, start, end };
}

/** `left | name` and `left | name(rest)` are `name(left, rest)`. */
function pipe(node: BinaryExpression, depth: number): Expression {
  checkPipe(node, [node.left, node.right]);
  const { left, right } = node;
  if (left.type === 'PrivateIdentifier') return refuse(left, 'private names are not part of expressions');
  const callee = right.type === 'CallExpression' && !right.optional ? right.callee : right;
  if (callee.type !== 'Identifier')
    return refuse(right, 'expected a filter after "|": a name, or a call by name');
  const rest = right.type === 'CallExpression' ? right.arguments : [];
  return {
    kind: 'call',
    name: callee.name,
    nameSpan: { start: callee.start, end: callee.end },
    args: [check(left, depth + 1), ...args(rest, depth)],
    piped: true,
    start: node.start,
    end: node.end,
  };
}

function propertyName(node: AcornMember): string | undefined {
  const { property } = node;
  if (property.type === 'PrivateIdentifier')
    return refuse(property, 'private names are not part of expressions');
  if (!node.computed) return property.type === 'Identifier' ? property.name : undefined;
  return property.type === 'Literal' && typeof property.value === 'string' ? property.value : undefined;
}

function member(node: AcornMember, depth: number): Expression {
  const name = propertyName(node);
  if (name !== undefined && inherited.has(name)) {
    refuse(node.property, `"${name}" does not exist in templates`);
  }
  return {
    kind: 'member',
    object: check(node.object, depth + 1),
    property: name ?? check(node.property as AcornExpression, depth + 1),
    propertySpan: { start: node.property.start, end: node.property.end },
    optional: node.optional,
    start: node.start,
    end: node.end,
  };
}

function call(node: AcornCall, depth: number): Expression {
  const { callee, start, end } = node;
  if (callee.type === 'Identifier') {
    if (node.optional) refuse(node, 'a call by name is never optional');
    const nameSpan = { start: callee.start, end: callee.end };
    return {
      kind: 'call',
      name: callee.name,
      nameSpan,
      args: args(node.arguments, depth),
      piped: false,
      start,
      end,
    };
  }
  if (callee.type !== 'MemberExpression') {
    return refuse(callee, 'only helpers, macros and methods can be called, by name');
  }
  const target = member(callee, depth + 1);
  if (node.optional) refuse(node, 'a method call is never optional; write "value?.method()"');
  if (target.kind !== 'member' || typeof target.property !== 'string' || callee.computed) {
    return refuse(callee.property, 'a method is called by its name: value.method()');
  }
  const { object, property: name, propertySpan: nameSpan, optional } = target;
  return { kind: 'method', object, name, nameSpan, args: args(node.arguments, depth), optional, start, end };
}

function args(nodes: readonly (AcornExpression | SpreadElement)[], depth: number): Expression[] {
  return nodes.map((node) => {
    if (node.type === 'SpreadElement')
      return refuse(node, '"..." stands only in lists and objects, not in calls');
    return node.type === 'ArrowFunctionExpression' ? arrow(node, depth) : check(node, depth + 1);
  });
}

function arrow(node: ArrowFunctionExpression, depth: number): ArrowFunction {
  if (node.async) refuse(node, '"async" is not part of expressions');
  const { body, start, end } = node;
  if (body.type === 'BlockStatement') return refuse(body, 'the body of a function is an expression');
  const parameters = node.params.map((parameter: AnyNode) => {
    if (parameter.type !== 'Identifier') return refuse(parameter, 'expected a plain parameter name');
    return { name: parameter.name, start: parameter.start, end: parameter.end };
  });
  return { kind: 'arrow', parameters, body: check(body, depth + 1), start, end };
}
