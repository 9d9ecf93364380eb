/** Offsets in the template. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export type UnaryOperator = '!' | '-' | '+' | 'typeof';
export type BinaryOperator =
  '+' | '-' | '*' | '/' | '%' | '**' | '<' | '<=' | '>' | '>=' | '===' | '!==' | 'in';
export type LogicalOperator = '&&' | '||' | '??';

/** Expressions that have been checked: nothing else can be said in a template. */
export type Expression = Span &
  (
    | { readonly kind: 'literal'; readonly value: string | number | boolean | null | undefined }
    | { readonly kind: 'name'; readonly name: string }
    | { readonly kind: 'template'; readonly texts: readonly string[]; readonly holes: readonly Expression[] }
    | { readonly kind: 'list'; readonly items: readonly Item[] }
    | { readonly kind: 'object'; readonly entries: readonly ObjectEntry[] }
    | { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly operand: Expression }
    | {
        readonly kind: 'binary';
        readonly operator: BinaryOperator;
        readonly left: Expression;
        readonly right: Expression;
      }
    | {
        readonly kind: 'logical';
        readonly operator: LogicalOperator;
        readonly left: Expression;
        readonly right: Expression;
      }
    | {
        readonly kind: 'conditional';
        readonly test: Expression;
        readonly consequent: Expression;
        readonly alternate: Expression;
      }
    | MemberExpression
    | MethodCall
    /** Where a `?.` inside stops: the whole chain is then undefined. */
    | { readonly kind: 'chain'; readonly body: Expression }
    | CallExpression
    | ArrowFunction
  );

export type Item =
  | { readonly spread: false; readonly value: Expression }
  | { readonly spread: true; readonly value: Expression };

export type ObjectEntry =
  | { readonly spread: true; readonly value: Expression }
  | {
      readonly spread: false;
      readonly key: string | Expression;
      readonly keySpan: Span;
      readonly value: Expression;
    };

export interface MemberExpression extends Span {
  readonly kind: 'member';
  readonly object: Expression;
  readonly property: string | Expression;
  readonly propertySpan: Span;
  readonly optional: boolean;
}

/** `object.name(args)`. */
export interface MethodCall extends Span {
  readonly kind: 'method';
  readonly object: Expression;
  readonly name: string;
  readonly nameSpan: Span;
  readonly args: readonly Expression[];
  readonly optional: boolean;
}

/** `name(args)`, and `first | name(rest)`. */
export interface CallExpression extends Span {
  readonly kind: 'call';
  readonly name: string;
  readonly nameSpan: Span;
  readonly args: readonly Expression[];
  readonly piped: boolean;
}

/** Stands only as an argument of a call. */
export interface ArrowFunction extends Span {
  readonly kind: 'arrow';
  readonly parameters: readonly (Span & { readonly name: string })[];
  readonly body: Expression;
}

/** What a literal key list may say: undefined when the expression is no plain object literal. */
export function literalKeys(expression: Expression): ReadonlyMap<string, ObjectEntry> | undefined {
  if (expression.kind !== 'object') return undefined;
  const keys = new Map<string, ObjectEntry>();
  for (const entry of expression.entries) {
    if (entry.spread || typeof entry.key !== 'string') return undefined;
    keys.set(entry.key, entry);
  }
  return keys;
}
