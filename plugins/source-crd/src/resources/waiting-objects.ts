import type { Clock, KubeObject, Log } from '@haptic/core/contract';
import type { Changes } from '@haptic/kube';
import { secretKey } from './secret-references.ts';

/** Longer than a list takes. A server that does not answer must not keep back what has come. */
const PATIENCE_MS = 5_000;

export interface WaitingObjectsParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Whether an object has to wait still. */
  readonly waits: (object: KubeObject) => boolean;
  readonly pass: (objects: readonly KubeObject[]) => void;
}

/** The newest of an object, from its first time of waiting on: one that changes often has to wait no longer than another. */
interface Held {
  object: KubeObject;
}

/**
 * Keeps objects back that name something which is still on its way: handed on before it, they would be rendered as if it were not
 * there. What was known of them before stays meanwhile.
 */
export class WaitingObjects {
  readonly #parts: WaitingObjectsParts;
  readonly #objects = new Map<string, Held>();
  #stop = new AbortController();

  constructor(parts: WaitingObjectsParts) {
    this.#parts = parts;
  }

  /** Without those that wait. */
  hold({ upserts, deletes }: Changes): Changes {
    for (const name of deletes) this.#objects.delete(secretKey(name));
    return { deletes, upserts: upserts.filter((object) => !this.#keep(object)) };
  }

  /** Passes on what need not wait any more. */
  look(): void {
    const held = [...this.#objects.values()].map(({ object }) => object);
    this.#pass(held.filter((object) => !this.#parts.waits(object)));
  }

  /** Nobody waits any more, and nobody is told. */
  clear(): void {
    this.#objects.clear();
    this.#stop.abort();
    this.#stop = new AbortController();
  }

  #keep(object: KubeObject): boolean {
    const key = secretKey(object.metadata);
    const held = this.#objects.get(key);
    if (!this.#parts.waits(object)) this.#objects.delete(key);
    else if (held === undefined) this.#begin(key, { object });
    else held.object = object;
    return this.#objects.has(key);
  }

  #begin(key: string, held: Held): void {
    this.#objects.set(key, held);
    this.#passLate(key, held).catch((error: unknown) => {
      this.#parts.log.error({ err: error, object: key }, 'an object that waited could not be handed on');
    });
  }

  async #passLate(key: string, held: Held): Promise<void> {
    const { signal } = this.#stop;
    await this.#parts.clock.sleep(PATIENCE_MS, signal).catch(() => undefined);
    if (!signal.aborted && this.#objects.get(key) === held) this.#pass([held.object]);
  }

  #pass(objects: readonly KubeObject[]): void {
    for (const { metadata } of objects) this.#objects.delete(secretKey(metadata));
    if (objects.length > 0) this.#parts.pass(objects);
  }
}
