import type { Clock, FoundPod, KubeObject, Log, Meter } from '@haptic/core/contract';
import {
  countRestarts,
  refusalOf,
  Reflector,
  type ApiError,
  type KubeConnection,
  type ReflectorEvent,
  type Resource,
} from '@haptic/kube';
import { foundPods } from './found-pods.ts';

const pods: Resource = { apiVersion: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };

/** What changes often, or is much, and says nothing about where a pod is. */
const IGNORED = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.ownerReferences',
  'spec',
  'status.conditions',
  'status.containerStatuses',
  'status.initContainerStatuses',
];

export interface PodWatchOptions {
  readonly kube: Pick<KubeConnection, 'api' | 'namespace'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly signal: AbortSignal;
}

type Listener = (pods: readonly FoundPod[]) => void;

/** Watches the pods of one namespace that have certain labels. */
export class PodWatch {
  readonly #options: PodWatchOptions;
  readonly #listeners = new Set<Listener>();
  #selector: string | undefined;
  #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  /** Undefined until there was a first list. */
  #found: readonly FoundPod[] | undefined;
  /** What somebody has to mend before there is another list. */
  #refusal: ApiError | undefined;

  constructor(options: PodWatchOptions) {
    this.#options = options;
  }

  get isSelecting(): boolean {
    return this.#selector !== undefined;
  }

  /** Why nothing may be deployed to anybody. */
  get problem(): string | undefined {
    if (this.#selector === undefined) return undefined;
    if (this.#refusal !== undefined) return this.#refusal.message;
    const isNobody = this.#found !== undefined && this.#found.length === 0;
    return isNobody ? `no pod with ${this.#selector} has an address` : undefined;
  }

  follow(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#found !== undefined) listener(this.#found);
    return () => void this.#listeners.delete(listener);
  }

  /** From now on these pods; those of before stay until it is known which they are. */
  select(matchLabels: Readonly<Record<string, string>>): void {
    const selector = Object.entries(matchLabels)
      .map(([key, value]) => `${key}=${value}`)
      .toSorted()
      .join();
    if (selector === this.#selector) return;
    this.#selector = selector;
    this.#refusal = undefined;
    this.#stop.abort();
    this.#stop = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, this.#stop.signal]);
    this.#running = Promise.all([this.#running, this.#reflector(selector, signal).run(signal)]);
  }

  /** Resolves when nothing runs any more, after the signal. */
  async idle(): Promise<void> {
    await this.#running;
  }

  #reflector(labelSelector: string, signal: AbortSignal): Reflector {
    const { api, namespace } = this.#options.kube;
    const { clock, log, meter } = this.#options;
    const known = new Map<string, KubeObject>();
    const count = countRestarts(meter, pods.resource);
    const keep = (objects: readonly KubeObject[]): void => {
      for (const object of objects) known.set(object.metadata.name, object);
      if (!signal.aborted) this.#tell(foundPods(known.values()));
    };
    return new Reflector({
      api,
      resource: pods,
      namespace,
      labelSelector,
      ignoreFields: IGNORED,
      observe: (event) => {
        count(event);
        if (!signal.aborted) this.#note(event);
      },
      clock,
      log,
      handler: {
        replace(objects) {
          known.clear();
          keep(objects);
        },
        apply({ upserts, deletes }) {
          for (const { name } of deletes) known.delete(name);
          keep(upserts);
        },
        // There is no API server without pods: whoever says so is not one, and nobody is sent away for that.
        notServed: () => undefined,
      },
    });
  }

  #note(event: ReflectorEvent): void {
    if (event.type === 'listed') this.#refusal = undefined;
    // After such an answer there is always another list.
    else this.#refusal = refusalOf(event.error) ?? this.#refusal;
  }

  #tell(found: readonly FoundPod[]): void {
    if (JSON.stringify(found) === JSON.stringify(this.#found)) return;
    this.#found = found;
    this.#options.log.info({ pods: found.map(({ name }) => name) }, 'found the HAProxy pods');
    for (const listener of this.#listeners) listener(found);
  }
}
