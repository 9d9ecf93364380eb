import type { Clock, KubeObject, Log, StoreSink, WatchContent } from '@haptic/core/contract';
import type { Changes, Discovery, Resource } from '@haptic/kube';
import type { Interests } from './interests.ts';
import { followOwn } from './own-objects.ts';
import { WANTED_SECRET_TYPES, type SecretReferences } from './secret-references.ts';
import type { Selection } from './shared-watch.ts';
import type { Filter, WatchPool } from './watch-pool.ts';

export interface FeedParts {
  readonly name: string;
  readonly watch: WatchContent;
  readonly sink: StoreSink;
  readonly discovery: Discovery;
  readonly pool: WatchPool;
  readonly interests: Interests;
  readonly references: SecretReferences;
  /** An object names a Secret that is not kept yet. */
  readonly secretNamed: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** `secrets` of the core API: only some of them may enter memory. */
export function isSecrets({ apiVersions, resources }: WatchContent): boolean {
  return resources === 'secrets' && apiVersions.includes('v1');
}

/** Keeps one watch of one sink filled, whatever version of its kind is served, and whichever of its objects are wanted. */
export class WatchFeed {
  readonly #parts: FeedParts;
  readonly #synced = Promise.withResolvers<void>();
  #resource: Resource | undefined;
  /** Ends the subscription that fills the sink. */
  #unsubscribe = (): void => undefined;
  /** Ends looking at who decides which objects are ours. */
  #undecide = (): void => undefined;
  /** What the sink was last told. */
  #told: 'nothing' | 'objects' | 'not served' = 'nothing';

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** Resolves when the sink has everything there is, or was told that there is no such kind. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get name(): string {
    return this.#parts.name;
  }

  get watch(): WatchContent {
    return this.#parts.watch;
  }

  /** Whether some version of the kind is served now. */
  get isServed(): boolean {
    return this.#find() !== undefined;
  }

  /**
   * Looks which version of the kind is served now. A required kind that is gone keeps what there was of it: its objects are
   * wanted, and a server that lost a definition is not a reason to drop them.
   */
  resolve(): void {
    const { watch, name, sink, log } = this.#parts;
    const found = this.#find();
    if (found === undefined && watch.optional) {
      this.stop();
      this.#resource = undefined;
      this.#parts.references.forget(name);
      if (this.#told !== 'not served') sink.notServed(name);
      this.#told = 'not served';
      this.#synced.resolve();
    } else if (found === undefined) {
      log.error(
        { watch: name, apiVersions: watch.apiVersions },
        'a required kind is not served any more, its objects stay',
      );
    } else if (found.apiVersion !== this.#resource?.apiVersion) {
      this.stop();
      this.#resource = found;
      this.#attach(found);
    }
  }

  /** Takes the Secrets that are named by now. */
  refilter(): void {
    if (this.#resource !== undefined && this.#told !== 'nothing')
      this.#subscribe(this.#parts.references.filter());
  }

  stop(): void {
    this.#undecide();
    this.#unsubscribe();
    this.#undecide = () => undefined;
    this.#unsubscribe = () => undefined;
  }

  #find(): Resource | undefined {
    const { discovery, watch } = this.#parts;
    return discovery.find(watch.apiVersions, watch.resources);
  }

  #attach({ apiVersion, resource }: Resource): void {
    const { watch, interests, references } = this.#parts;
    if (isSecrets(watch)) return this.#subscribe(references.filter());
    const kind = { apiVersion, resources: resource };
    this.#undecide = followOwn(interests.of(kind), this.#parts, (rule) => {
      if (rule !== undefined) interests.decided(kind, rule);
      this.#subscribe(rule);
    });
  }

  /** The sink keeps what it has until the new list is complete, so that nothing is ever missing in between. */
  #subscribe(filter: Filter | undefined): void {
    const before = this.#unsubscribe;
    this.#unsubscribe = this.#parts.pool.subscribe(
      this.#selection(),
      { replace: (objects) => this.#replace(objects), apply: (changes) => this.#apply(changes) },
      filter,
    );
    before();
  }

  #selection(): Selection {
    const { watch } = this.#parts;
    const fields = [
      ...(watch.fieldSelector === undefined ? [] : [watch.fieldSelector]),
      ...(isSecrets(watch) ? [WANTED_SECRET_TYPES] : []),
    ];
    return {
      resource: this.#resource!,
      namespaces: watch.namespaces,
      ignoreFields: watch.ignoreFields,
      ...(watch.labelSelector !== undefined && { labelSelector: watch.labelSelector }),
      ...(fields.length > 0 && { fieldSelector: fields.join(',') }),
    };
  }

  #replace(objects: readonly KubeObject[]): void {
    this.#parts.sink.replace(this.name, objects);
    this.#told = 'objects';
    this.#parts.references.forget(this.name);
    for (const object of objects) this.#note(object.metadata, object);
    this.#synced.resolve();
  }

  #apply({ upserts, deletes }: Changes): void {
    this.#parts.sink.apply(this.name, { upserts, deletes });
    for (const name of deletes) this.#note(name, undefined);
    for (const object of upserts) this.#note(object.metadata, object);
  }

  #note(name: { readonly namespace?: string; readonly name: string }, object: KubeObject | undefined): void {
    const { interests, references, secretNamed } = this.#parts;
    const { apiVersion, resource } = this.#resource!;
    const readers = interests.of({ apiVersion, resources: resource });
    if (readers.length > 0 && references.update(this.name, name, object, readers)) secretNamed();
  }
}
