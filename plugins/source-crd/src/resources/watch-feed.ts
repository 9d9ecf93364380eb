import type { Clock, KubeObject, Log, StoreSink, WatchContent } from '@haptic/core/contract';
import type { Changes, Discovery, KubeApi, Resource } from '@haptic/kube';
import { confirmAbsence } from './absence.ts';
import type { Interests } from './interests.ts';
import { followOwn } from './own-objects.ts';
import {
  WANTED_SECRET_TYPES,
  secretKey,
  type SecretFilter,
  type SecretReferences,
} from './secret-references.ts';
import type { Selection } from './shared-watch.ts';
import { Succession } from './succession.ts';
import type { Filter, WatchPool } from './watch-pool.ts';

export interface FeedParts {
  readonly name: string;
  readonly watch: WatchContent;
  readonly sink: StoreSink;
  readonly api: KubeApi;
  readonly discovery: Discovery;
  readonly pool: WatchPool;
  readonly interests: Interests;
  readonly references: SecretReferences;
  /** A Secret is named that may not be kept yet. */
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
  /** What fills the sink. It keeps what it has until the next list is complete, so that nothing is ever missing in between. */
  readonly #succession = new Succession({
    replace: (objects) => this.#replace(objects),
    apply: (changes) => this.#apply(changes),
  });
  /** Ends asking the server about a kind that discovery does not list. */
  #asking: AbortController | undefined;
  /** Ends looking at who decides which objects are ours. */
  #undecide = (): void => undefined;
  /** Which Secrets were asked for last. */
  #secrets: SecretFilter | undefined;
  /** Secrets that the sink has. */
  readonly #held = new Set<string>();
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
    const { watch, name, log } = this.#parts;
    const found = this.#find();
    if (found === undefined && watch.optional) return this.#doubt();
    this.#asking?.abort();
    this.#asking = undefined;
    if (found === undefined) {
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

  /** Takes the Secrets that are named by now, if there are any that it neither has nor waits for. */
  refilter(): void {
    if (this.#resource === undefined || this.#secrets === undefined) return;
    const { references } = this.#parts;
    if (references.some((name) => !this.#held.has(name) && !this.#secrets!.names.has(name)))
      this.#takeSecrets();
  }

  stop(): void {
    this.#asking?.abort();
    this.#undecide();
    this.#succession.stop();
    this.#asking = undefined;
    this.#undecide = () => undefined;
  }

  /** Keeps what there is of a kind that discovery does not list, until the server itself says that it is gone. */
  #doubt(): void {
    const isTold = this.#told === 'not served' && this.#resource === undefined;
    if (isTold || this.#asking !== undefined) return;
    this.#asking = new AbortController();
    void this.#confirm(this.#asking.signal);
  }

  async #confirm(signal: AbortSignal): Promise<void> {
    try {
      await confirmAbsence({ ...this.#parts, served: this.#resource }, signal);
      if (!signal.aborted) this.#gone();
    } catch (error) {
      if (!signal.aborted) this.#parts.log.error({ watch: this.name, err: error }, 'cannot ask for a kind');
    }
  }

  #gone(): void {
    const { references, sink, name } = this.#parts;
    this.stop();
    this.#resource = undefined;
    references.forget(name);
    this.#held.clear();
    this.#told = 'not served';
    sink.notServed(name);
    this.#synced.resolve();
  }

  #find(): Resource | undefined {
    const { discovery, watch } = this.#parts;
    return discovery.find(watch.apiVersions, watch.resources);
  }

  #attach({ apiVersion, resource }: Resource): void {
    const { watch, interests } = this.#parts;
    if (isSecrets(watch)) return this.#takeSecrets();
    const kind = { apiVersion, resources: resource };
    this.#undecide = followOwn(interests.of(kind), this.#parts, (rule) => {
      if (rule !== undefined) interests.decided(kind, rule);
      this.#subscribe(rule);
    });
  }

  #takeSecrets(): void {
    this.#secrets = this.#parts.references.filter();
    this.#subscribe(this.#secrets);
  }

  #subscribe(filter: Filter | undefined): void {
    const selection = this.#selection();
    this.#succession.next((subscriber) => this.#parts.pool.subscribe(selection, subscriber, filter));
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
    const { sink, references } = this.#parts;
    sink.replace(this.name, objects);
    this.#told = 'objects';
    if (this.#secrets !== undefined) this.#hold(objects);
    references.forget(this.name);
    for (const object of objects) this.#note(object.metadata, object);
    this.#synced.resolve();
  }

  #hold(objects: readonly KubeObject[]): void {
    this.#held.clear();
    for (const { metadata } of objects) this.#held.add(secretKey(metadata));
    // One that came under a name of before may be of another type now.
    this.#parts.secretNamed();
  }

  #apply({ upserts, deletes }: Changes): void {
    const { sink, secretNamed } = this.#parts;
    sink.apply(this.name, { upserts, deletes });
    if (this.#secrets !== undefined) {
      for (const name of deletes) this.#held.delete(secretKey(name));
      for (const { metadata } of upserts) this.#held.add(secretKey(metadata));
      if (deletes.length > 0) secretNamed();
    }
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
