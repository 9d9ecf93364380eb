import type { RenderInput } from '../../contract/index.ts';
import type { Declared, Declarations, DeclaredCounts } from './declarations.ts';

/** What the body of a memo yielded. */
export interface Kept {
  readonly text: string;
  readonly declared: Declared;
  /** What it took: a render that re-uses it uses up the same, so that it comes to the same end. */
  readonly steps: number;
}

/** A memo of the templates, with the values of its keys. */
export type MemoKey = readonly unknown[];

/** What a render is at when a memo begins. */
export interface Begun {
  readonly steps: number;
  readonly counts: DeclaredCounts;
}

interface Counted {
  steps: number;
  charge(steps: number, site: number): void;
  readonly declarations: Declarations;
}

/** Results by keys, compared like `Object.is`: a tree of maps, one level a key. */
class Results {
  readonly #root = new Map<unknown, unknown>();

  get(key: MemoKey): Kept | undefined {
    let at: unknown = this.#root;
    for (const part of key) at = (at as Map<unknown, unknown> | undefined)?.get(part);
    return at as Kept | undefined;
  }

  set(key: MemoKey, kept: Kept): void {
    let at = this.#root;
    for (const part of key.slice(0, -1)) {
      let next = at.get(part) as Map<unknown, unknown> | undefined;
      if (next === undefined) at.set(part, (next = new Map()));
      at = next;
    }
    at.set(key.at(-1), kept);
  }
}

/** What is the same for all renders that may share results. */
type Basis = Pick<RenderInput, 'config' | 'fleet'>;

function isSameBasis(a: Basis, b: Basis): boolean {
  return (
    a.config === b.config &&
    a.fleet.haproxyVersion === b.fleet.haproxyVersion &&
    a.fleet.paths.base === b.fleet.paths.base &&
    a.fleet.paths.workerSocket === b.fleet.paths.workerSocket
  );
}

/** A map takes 0 for -0. */
const NEGATIVE_ZERO = Symbol('-0');

/**
 * The memos of one render. It takes results from the render before, and hands on those that it used and no others, so that
 * nothing is kept that the latest render had no use for.
 */
export class Memo {
  readonly #basis: Basis;
  readonly #before: Results | undefined;
  readonly #now = new Results();

  constructor(basis: Basis, before: Memo | undefined) {
    this.#basis = basis;
    this.#before = before !== undefined && isSameBasis(before.#basis, basis) ? before.#now : undefined;
  }

  /** Declarations name the objects of the section around them, so these are keys as well. */
  key(memo: number, values: readonly unknown[], rt: Counted): MemoKey {
    const parts = values.map((value) => (Object.is(value, -0) ? NEGATIVE_ZERO : value));
    return [memo, rt.declarations.objects.length, ...rt.declarations.objects, ...parts];
  }

  /** Declares it again. */
  find(key: MemoKey, rt: Counted, site: number): Kept | undefined {
    let kept = this.#now.get(key);
    if (kept === undefined) {
      kept = this.#before?.get(key);
      if (kept === undefined) return undefined;
      this.#now.set(key, kept);
    }
    rt.charge(kept.steps, site);
    rt.declarations.again(kept.declared, site);
    return kept;
  }

  begin(rt: Counted): Begun {
    return { steps: rt.steps, counts: rt.declarations.counts() };
  }

  keep(key: MemoKey, { steps, counts }: Begun, text: string, rt: Counted): Kept {
    const kept = { text, declared: rt.declarations.since(counts), steps: rt.steps - steps };
    this.#now.set(key, kept);
    return kept;
  }
}
