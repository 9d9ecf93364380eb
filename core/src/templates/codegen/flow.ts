import type { ForNode } from '../syntax/nodes.ts';
import type { TextMode, TextState } from '../text/text-mode.ts';

interface Exits {
  readonly breaks: TextState[];
  readonly continues: TextState[];
}

/** What passes over one unit learn of its loops: the states in which their bodies can begin. */
export class Flow {
  readonly #starts = new Map<ForNode, TextState>();
  #exits = new Map<ForNode, Exits>();
  #changed = false;

  /** Begins another pass; false when the last one learnt nothing new. */
  next(): boolean {
    const again = this.#changed;
    this.#changed = false;
    this.#exits = new Map();
    return again;
  }

  /** The state in which the loop's body begins, as far as known. */
  enter(node: ForNode, before: TextState, mode: TextMode): TextState {
    this.#exits.set(node, { breaks: [], continues: [] });
    const known = this.#starts.get(node);
    return known === undefined ? before : (mode.merge(known, before) ?? before);
  }

  leave(node: ForNode, kind: 'break' | 'continue', state: TextState): void {
    const exits = this.#exits.get(node)!;
    (kind === 'break' ? exits.breaks : exits.continues).push(state);
  }

  exits(node: ForNode): Exits {
    return this.#exits.get(node)!;
  }

  /** The body can begin in this state as well. */
  repeat(node: ForNode, state: TextState, mode: TextMode): void {
    const known = this.#starts.get(node);
    if (known !== undefined && mode.isSame(known, state)) return;
    this.#starts.set(node, state);
    this.#changed = true;
  }
}
