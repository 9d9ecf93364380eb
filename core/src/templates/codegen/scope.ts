import type { Reads } from './reads.ts';
import type { TextShape } from '../text/text-mode.ts';

/**
 * What is known of an expression's value before it has one: `path` came from `path(…)`, a shape is text that templates made,
 * escaped already.
 */
export type StaticType = 'value' | 'path' | TextShape;

export function isText(type: StaticType): type is TextShape {
  return type === 'lines' || type === 'inline';
}

export interface Variable {
  /** What it is called in the compiled code: never a name of the template's. */
  readonly js: string;
  readonly type: StaticType;
  /** As messages call it. Only those that `set` declares can be assigned. */
  readonly kind: 'variable' | 'loop variable' | 'parameter' | 'loop';
}

/** The variables that one block sees. */
export class Scope {
  readonly #variables = new Map<string, Variable>();
  readonly #parent: Scope | undefined;
  readonly #memo: Reads | undefined;

  /** @param memo Hears what the body of a memo reads from outside. */
  constructor(parent?: Scope, memo?: Reads) {
    this.#parent = parent;
    this.#memo = memo;
  }

  find(name: string): Variable | undefined {
    const own = this.#variables.get(name);
    if (own !== undefined) return own;
    const outer = this.#parent?.find(name);
    if (outer !== undefined) this.#memo?.variables.add(name);
    return outer;
  }

  /** The variable stands outside of a memo that this block is in. */
  isBeyondMemo(name: string): boolean {
    if (this.#variables.has(name)) return false;
    if (this.#memo !== undefined) return this.#parent?.find(name) !== undefined;
    return this.#parent?.isBeyondMemo(name) ?? false;
  }

  declare(name: string, variable: Variable): void {
    this.#variables.set(name, variable);
  }

  /** All visible names, for hints. */
  names(): string[] {
    return [...this.#variables.keys(), ...(this.#parent?.names() ?? [])];
  }
}
