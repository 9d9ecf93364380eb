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

/**
 * Keeps objects back that name something which is still on its way: handed on before it, they would be rendered as if it were not
 * there. What was known of them before stays meanwhile.
 */
export class WaitingObjects {
  readonly #parts: WaitingObjectsParts;
  readonly #objects = new Map<string, KubeObject>();
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
    this.#pass([...this.#objects.values()].filter((object) => !this.#parts.waits(object)));
  }

  /** Nobody waits any more, and nobody is told. */
  clear(): void {
    this.#objects.clear();
    this.#stop.abort();
    this.#stop = new AbortController();
  }

  #keep(object: KubeObject): boolean {
    const key = secretKey(object.metadata);
    this.#objects.delete(key);
    if (!this.#parts.waits(object)) return false;
    this.#objects.set(key, object);
    this.#passLate(key, object).catch((error: unknown) => {
      this.#parts.log.error({ err: error, object: key }, 'an object that waited could not be handed on');
    });
    return true;
  }

  async #passLate(key: string, object: KubeObject): Promise<void> {
    const { signal } = this.#stop;
    await this.#parts.clock.sleep(PATIENCE_MS, signal).catch(() => undefined);
    if (!signal.aborted && this.#objects.get(key) === object) this.#pass([object]);
  }

  #pass(objects: readonly KubeObject[]): void {
    for (const { metadata } of objects) this.#objects.delete(secretKey(metadata));
    if (objects.length > 0) this.#parts.pass(objects);
  }
}
