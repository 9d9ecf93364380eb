import type { Clock, KubeObject, ObjectInterest, Log, StoreSink, WatchContent } from '@haptic/core/contract';
import type { Changes, Discovery, KubeApi, Resource } from '@haptic/kube';
import { confirmAbsence } from './absence.ts';
import type { Interests } from './interests.ts';
import { followOwn } from './own-objects.ts';
import { allowedSecrets, isSecrets, SecretChoice, selectsByName } from './secret-choice.ts';
import { secretKey, type SecretReferences } from './secret-references.ts';
import type { Selection } from './shared-watch.ts';
import { Succession } from './succession.ts';
import { WaitingObjects } from './waiting-objects.ts';
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
  /** Other Secrets may be named than before. */
  readonly secretNamed: () => void;
  /** Whether it is not known yet if there is a Secret. */
  readonly awaitsSecret: (name: string) => boolean;
  /** Of more Secrets it is known whether there are any. */
  readonly secretsCame: () => void;
  readonly clock: Clock;
  readonly log: Log;
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
  /** Where only some of what is selected is asked for. */
  #secrets: SecretChoice | undefined;
  /** Objects that name Secrets of which it is not known yet whether there are any. */
  readonly #waiting: WaitingObjects;
  /** What the sink was last told. */
  #told: 'nothing' | 'objects' | 'not served' = 'nothing';

  constructor(parts: FeedParts) {
    this.#parts = parts;
    const { clock, log, sink, name, references, awaitsSecret } = parts;
    this.#waiting = new WaitingObjects({
      clock,
      log,
      waits: (object) => references.of(name, object.metadata).some(awaitsSecret),
      pass: (upserts) => sink.apply(name, { upserts, deletes: [] }),
    });
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

  /** Asks for the Secrets that are named by now, if these are others. */
  refilter(): void {
    if (this.#secrets?.isOutdated === true) this.#succession.next(this.#secrets.whole());
  }

  awaitsSecret(name: string): boolean {
    return this.#secrets?.awaits(name) === true;
  }

  /** Hands on what waited for Secrets and need not any more. */
  passWaiting(): void {
    this.#waiting.look();
  }

  stop(): void {
    this.#asking?.abort();
    this.#waiting.clear();
    this.#undecide();
    this.#succession.stop();
    this.#asking = undefined;
    this.#secrets = undefined;
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
    const { references, sink, name, secretNamed } = this.#parts;
    this.stop();
    this.#resource = undefined;
    references.forget(name);
    secretNamed();
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
    if (isSecrets(watch)) return this.#attachSecrets();
    const kind = { apiVersion, resources: resource };
    this.#undecide = followOwn(interests.of(kind), this.#parts, (rule) => {
      if (rule !== undefined) interests.decided(kind, rule);
      this.#subscribe(rule);
    });
  }

  #attachSecrets(): void {
    const { watch, references, pool } = this.#parts;
    const selection = this.#selection();
    if (selectsByName(watch)) {
      this.#succession.next((subscriber) => pool.subscribe(allowedSecrets(selection), subscriber));
      return;
    }
    this.#secrets = new SecretChoice(selection, references, pool);
    this.#succession.next(this.#secrets.byType());
  }

  #subscribe(filter: Filter | undefined): void {
    const selection = this.#selection();
    this.#succession.next((subscriber) => this.#parts.pool.subscribe(selection, subscriber, filter));
  }

  #selection(): Selection {
    const { namespaces, ignoreFields, labelSelector, fieldSelector } = this.#parts.watch;
    return {
      resource: this.#resource!,
      namespaces,
      ignoreFields,
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    };
  }

  #replace(objects: readonly KubeObject[]): void {
    const { sink, references, secretNamed } = this.#parts;
    sink.replace(this.name, objects);
    this.#waiting.clear();
    this.#told = 'objects';
    references.forget(this.name);
    for (const object of objects) this.#note(object.metadata, object);
    if (this.#secrets === undefined) secretNamed();
    else this.#replaced(this.#secrets, objects);
    if (this.#secrets?.isWhole !== false) this.#synced.resolve();
  }

  #replaced(secrets: SecretChoice, objects: readonly KubeObject[]): void {
    const { secretNamed, secretsCame } = this.#parts;
    secrets.replaced(objects);
    if (!secrets.isAsked) this.#succession.next(secrets.whole());
    else if (secrets.isOutdated) secretNamed();
    secretsCame();
  }

  #apply({ upserts, deletes }: Changes): void {
    const { sink, secretNamed, secretsCame } = this.#parts;
    for (const name of deletes) this.#note(name, undefined);
    for (const object of upserts) this.#note(object.metadata, object);
    const changes = this.#waiting.hold({ upserts, deletes });
    if (changes.upserts.length + changes.deletes.length > 0) sink.apply(this.name, changes);
    if (this.#secrets === undefined) return;
    this.#secrets.applied({ upserts, deletes });
    // One that comes under the name of before may be of another type.
    if (deletes.length > 0) secretNamed();
    secretsCame();
  }

  #note(name: { readonly namespace?: string; readonly name: string }, object: KubeObject | undefined): void {
    const { interests, references, secretNamed } = this.#parts;
    const { apiVersion, resource } = this.#resource!;
    const readers = interests.of({ apiVersion, resources: resource });
    if (readers.length === 0) return;
    const names = object === undefined ? [] : readers.flatMap((reader) => this.#secretsOf(object, reader));
    if (references.update(this.name, name, names)) secretNamed();
  }

  /** Whoever reads a kind may be an operator's plugin: where it fails over one object all others go on. */
  #secretsOf(object: KubeObject, reader: ObjectInterest): readonly string[] {
    try {
      return (reader.secrets?.(object) ?? []).map((secret) => secretKey(secret));
    } catch (error) {
      const { namespace, name } = object.metadata;
      this.#parts.log.error(
        { watch: this.name, namespace, name, err: error },
        'a plugin cannot say which Secrets an object names',
      );
      return [];
    }
  }
}
