import type { Log, StateStore, z } from '@haptic/core/contract';

export interface InventoryParts<S extends z.ZodType> {
  readonly store: StateStore | undefined;
  /** Name of the document. */
  readonly document: string;
  readonly schema: S;
  readonly empty: z.output<S>;
  readonly log: Log;
}

/**
 * What was written, kept before it is: whoever leads next knows what there may be of ours. Read anew in each term, since somebody
 * else may have led in between.
 */
export class Inventory<S extends z.ZodType> {
  readonly #parts: InventoryParts<S>;
  #term: AbortSignal | undefined;
  #text: string | undefined;
  #value: z.output<S>;

  constructor(parts: InventoryParts<S>) {
    this.#parts = parts;
    this.#value = parts.empty;
  }

  /** @throws Retry when the store does not answer */
  async read(term: AbortSignal): Promise<z.output<S>> {
    const { store, document, schema, log, empty } = this.#parts;
    if (this.#term === term || store === undefined) return this.#value;
    const text = await store.read(document);
    this.#text = text;
    this.#value = empty;
    if (text !== undefined) {
      try {
        this.#value = schema.parse(JSON.parse(text));
      } catch (error) {
        log.error({ err: error, document }, 'what was published before is not known: it is not cleaned up');
      }
    }
    this.#term = term;
    return this.#value;
  }

  /** @throws Retry when it could not be kept; Cancelled */
  async write(value: z.output<S>, signal: AbortSignal): Promise<void> {
    const { store, document } = this.#parts;
    const text = JSON.stringify(value);
    if (text !== this.#text) {
      // Not known until it is certain: the request may have been carried out all the same.
      this.#text = undefined;
      await store?.write(document, text, signal);
      signal.throwIfAborted();
      this.#text = text;
    }
    this.#value = value;
  }
}
