import { Refused, type Problem } from '../contract/index.ts';
import type { TemplateSource } from './source.ts';

/** Collects what is wrong with the templates of a configuration, so that all of it is reported at once. */
export class Problems {
  readonly #found = new Map<string, Problem>();

  /** The same problem found twice (a snippet compiled for two places) is one. */
  add(source: TemplateSource, offset: number, message: string): void {
    const problem = source.problem(offset, message);
    this.#found.set(`${problem.where} ${problem.message}`, problem);
  }

  addAll(other: Problems): void {
    for (const [key, problem] of other.#found) this.#found.set(key, problem);
  }

  get count(): number {
    return this.#found.size;
  }

  /** @throws Refused with every problem, when there is any. */
  throwIfAny(): void {
    if (this.#found.size > 0) throw new Refused([...this.#found.values()]);
  }
}

/** Gives up the tag or expression at hand; whoever goes on with the next one catches it. */
export class SyntaxProblem extends Error {
  override readonly name = 'SyntaxProblem';
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}
