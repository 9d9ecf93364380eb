import type { Expression, Span } from '../expression/ast.ts';

/** A name as a template writes it. */
export interface Name extends Span {
  readonly name: string;
}

/** A quoted text of a tag that must be known at load. */
export interface Quoted extends Span {
  readonly value: string;
}

export type Body = readonly Node[];

/** What templates consist of, in order. */
export type Node = TextNode | OutputNode | StatementNode;

export interface TextNode extends Span {
  readonly kind: 'text';
  readonly text: string;
}

export interface OutputNode extends Span {
  readonly kind: 'output';
  readonly expression: Expression;
  /** Nothing else stands on its line. */
  readonly alone: boolean;
  /** The output ends its line. */
  readonly lineEnd: boolean;
}

interface Tag extends Span {
  readonly alone: boolean;
}

export type StatementNode = Tag &
  (
    | { readonly kind: 'if'; readonly branches: readonly Branch[]; readonly otherwise: Body | undefined }
    | ForNode
    | { readonly kind: 'break' | 'continue' }
    | { readonly kind: 'set'; readonly name: Name; readonly value: Expression }
    | { readonly kind: 'set-block'; readonly name: Name; readonly body: Body }
    | MacroNode
    | { readonly kind: 'import'; readonly snippet: Quoted }
    | IncludeNode
    | { readonly kind: 'do'; readonly call: Expression }
    | SectionNode
    | { readonly kind: 'profiles' }
    | { readonly kind: 'bind'; readonly address: Expression }
    | BackendNode
    | MemoNode
    | {
        readonly kind: 'entry';
        readonly map: Expression;
        readonly key: Expression;
        readonly value: Expression;
      }
    | { readonly kind: 'entries'; readonly map: Expression; readonly list: Expression }
    | { readonly kind: 'cert'; readonly name: Expression; readonly secret: Expression }
    | CrtNode
    | { readonly kind: 'status'; readonly object: Expression; readonly conditions: Expression }
  );

export interface Branch extends Span {
  readonly test: Expression;
  readonly body: Body;
}

export interface ForNode extends Tag {
  readonly kind: 'for';
  /** One name, or key and value. */
  readonly names: readonly Name[];
  readonly list: Expression;
  readonly body: Body;
  readonly otherwise: Body | undefined;
}

export interface MacroNode extends Tag {
  readonly kind: 'macro';
  readonly name: Name;
  readonly parameters: readonly { readonly name: Name; readonly fallback: Expression | undefined }[];
  readonly body: Body;
}

export interface IncludeNode extends Tag {
  readonly kind: 'include';
  readonly snippet: Quoted;
  /** What is handed over: `with {a, b: e}`. */
  readonly handed: readonly { readonly name: string; readonly value: Expression }[];
}

export interface SectionNode extends Tag {
  readonly kind: 'section';
  readonly name: Expression;
  readonly objects: Expression | undefined;
  readonly options: Expression | undefined;
  readonly body: Body;
}

export interface BackendNode extends Tag {
  readonly kind: 'backend';
  readonly declaration: Expression;
  readonly body: Body;
}

export interface MemoNode extends Tag {
  readonly kind: 'memo';
  readonly keys: readonly Name[];
  readonly body: Body;
}

export interface CrtNode extends Tag {
  readonly kind: 'crt';
  readonly list: Expression;
  readonly certificate: Expression;
  readonly options: Expression | undefined;
  readonly sni: Expression | undefined;
}

/** What stands inside a node. */
export function bodiesOf(node: Node): readonly Body[] {
  switch (node.kind) {
    case 'if':
      return [...node.branches.map(({ body }) => body), node.otherwise ?? []];
    case 'for':
      return [node.body, node.otherwise ?? []];
    case 'set-block':
    case 'macro':
    case 'section':
    case 'backend':
    case 'memo':
      return [node.body];
    default:
      return [];
  }
}
