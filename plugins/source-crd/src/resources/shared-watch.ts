import type { Clock, KubeObject, Log } from '@haptic/core/contract';
import { Reflector, type Changes, type KubeApi, type ReflectorEvent, type Resource } from '@haptic/kube';

/** Which objects of a resource: all that has to be the same for a watch to be shared. */
export interface Selection {
  readonly resource: Resource;
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly ignoreFields: readonly string[];
}

/** Receives what a watch has, from its first complete list on. */
export interface Subscriber {
  replace(objects: readonly KubeObject[]): void;
  apply(changes: Changes): void;
}

export interface SharedWatchParts {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Log;
  /** The server said that it does not know the kind any more. */
  readonly notServed: () => void;
  readonly observe: (event: ReflectorEvent) => void;
}

interface Part {
  readonly reflector: Reflector;
  /** Undefined until its first list. */
  objects: Map<string, KubeObject> | undefined;
}

function keyOf({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return `${namespace ?? ''}/${name}`;
}

/**
 * The objects of one selection for everybody who asks for it: one list and one watch for each of its namespaces, told as one
 * whole. Nobody is told of a part before all parts are there.
 */
export class SharedWatch {
  readonly selection: Selection;
  readonly #parts: SharedWatchParts;
  readonly #accept: ((object: KubeObject) => boolean) | undefined;
  readonly #subscribers = new Set<Subscriber>();
  readonly #stop = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  readonly #running: readonly Part[];
  readonly #ended: Promise<void>;

  constructor(selection: Selection, parts: SharedWatchParts, accept?: (object: KubeObject) => boolean) {
    this.selection = selection;
    this.#parts = parts;
    this.#accept = accept;
    const { namespaces, resource } = selection;
    const places = resource.namespaced && namespaces.length > 0 ? namespaces : [undefined];
    this.#running = places.map((namespace) => this.#part(namespace));
    this.#ended = Promise.all(this.#running.map(({ reflector }) => reflector.run(this.#stop.signal))).then(
      () => undefined,
    );
  }

  /** Resolves when every object that there is has been told. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** None before it is synced. */
  objects(): readonly KubeObject[] {
    return this.#isSynced ? this.#running.flatMap(({ objects }) => [...objects!.values()]) : [];
  }

  /** Told everything at once if it is there, and every change from then on. Returns how to stop. */
  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber);
    if (this.#isSynced) subscriber.replace(this.objects());
    return () => void this.#subscribers.delete(subscriber);
  }

  get isUsed(): boolean {
    return this.#subscribers.size > 0;
  }

  /** What the server refuses until rights or credentials are others. */
  get refusals(): readonly string[] {
    return this.#running.flatMap(({ reflector }) => reflector.refusal?.message ?? []);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  get #isSynced(): boolean {
    return this.#running.every(({ objects }) => objects !== undefined);
  }

  #part(namespace: string | undefined): Part {
    const { resource, labelSelector, fieldSelector, ignoreFields } = this.selection;
    const { api, clock, log, notServed, observe } = this.#parts;
    const part: Part = {
      objects: undefined,
      reflector: new Reflector({
        api,
        resource,
        clock,
        log,
        ignoreFields,
        observe,
        ...(namespace !== undefined && { namespace }),
        ...(labelSelector !== undefined && { labelSelector }),
        ...(fieldSelector !== undefined && { fieldSelector }),
        ...(this.#accept !== undefined && { accept: this.#accept }),
        handler: {
          replace: (objects) => {
            part.objects = new Map(objects.map((object) => [keyOf(object.metadata), object]));
            this.#replaced();
          },
          apply: (changes) => this.#changed(part, changes),
          notServed,
        },
      }),
    };
    return part;
  }

  #replaced(): void {
    if (!this.#isSynced) return;
    const objects = this.objects();
    for (const subscriber of this.#subscribers) subscriber.replace(objects);
    this.#synced.resolve();
  }

  #changed(part: Part, changes: Changes): void {
    for (const name of changes.deletes) part.objects!.delete(keyOf(name));
    for (const object of changes.upserts) part.objects!.set(keyOf(object.metadata), object);
    if (!this.#isSynced) return;
    for (const subscriber of this.#subscribers) subscriber.apply(changes);
  }
}
