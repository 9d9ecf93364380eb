import { createHash } from 'node:crypto';

/** How many refused texts of one URL are remembered: a server may go to and fro between some. */
const MOST_REFUSED = 32;

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** What is known of the text of one URL: the newest that was fetched, the accepted one, and those that were refused. */
export class ContentState {
  #accepted: string | undefined;
  #newest: string | undefined;
  readonly #refused = new Set<string>();

  constructor(accepted?: string) {
    this.#accepted = accepted;
  }

  get accepted(): string | undefined {
    return this.#accepted;
  }

  /** The newest text where it is neither accepted nor refused. */
  get pending(): string | undefined {
    const newest = this.#newest;
    if (newest === undefined || newest === this.#accepted) return undefined;
    return this.#refused.size > 0 && this.#refused.has(digestOf(newest)) ? undefined : newest;
  }

  /** Whether it is another text than the one before. */
  fetched(text: string): boolean {
    const changed = text !== (this.#newest ?? this.#accepted);
    this.#newest = text;
    return changed;
  }

  accept(text: string): void {
    this.#accepted = text;
  }

  refuse(text: string): void {
    this.#refused.add(digestOf(text));
    if (this.#refused.size > MOST_REFUSED) this.#refused.delete([...this.#refused][0]!);
  }

  reconsider(): void {
    this.#refused.clear();
  }
}
