import {
  Bug,
  Cancelled,
  parseFieldPath,
  Refused,
  Retry,
  type Clock,
  type KubeObject,
  type Log,
} from '@haptic/core/contract';
import type { KubeApi } from '../api.ts';
import { ApiError, isApiError } from '../api-error.ts';
import { Backoff } from '../backoff.ts';
import { collectionPath, type Resource } from '../resource.ts';
import { arrive } from './arrival.ts';
import { KnownObjects, nameOf, type Changes, type Update } from './known-objects.ts';
import { listAll } from './list.ts';
import { watchOnce, type WatchEvent } from './watch.ts';
import { STABLE, WatchTrouble } from './watch-trouble.ts';

/** Receives the objects of one reflector. A call that throws is answered by `replace` after a pause. */
export interface ReflectorHandler {
  /** Everything there is: once at the start, and again only after a failure of the handler or when the kind came back. */
  replace(objects: readonly KubeObject[]): void;
  /** Never empty, at most one entry an object. */
  apply(changes: Changes): void;
  /** The server has no such kind (any more): there are no objects, until the next `replace`. */
  notServed(): void;
}

export type ReflectorEvent =
  | { readonly type: 'listed'; readonly objects: number }
  /** The connection of the watch ended; without an error because its time was over. */
  | { readonly type: 'restarted'; readonly error?: unknown };

export interface ReflectorTiming {
  readonly pageSize: number;
  /** The server ends a watch after a random time between these. */
  readonly watchSeconds: readonly [least: number, most: number];
  /** Milliseconds, all of them. */
  readonly inactivity: number;
  readonly requestTimeout: number;
  readonly backoff: { readonly first: number; readonly most: number };
}

const defaultTiming: ReflectorTiming = {
  pageSize: 500,
  watchSeconds: [300, 600],
  inactivity: 120_000,
  requestTimeout: 60_000,
  backoff: { first: 500, most: 30_000 },
};

export interface ReflectorOptions {
  readonly api: KubeApi;
  readonly resource: Resource;
  /** All namespaces without. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Dotted paths; an update of these alone is no change. */
  readonly ignoreFields?: readonly string[];
  /** False for foreign objects: they are never kept. */
  readonly accept?: (object: KubeObject) => boolean;
  readonly handler: ReflectorHandler;
  readonly observe?: (event: ReflectorEvent) => void;
  readonly clock: Clock;
  readonly log: Log;
  /** 0 ≤ x < 1. */
  readonly random?: () => number;
  readonly timing?: Partial<ReflectorTiming>;
}

/** @throws Refused for a field without which an object could not be told from others */
function parseIgnored(path: string): readonly string[] {
  const names = parseFieldPath(path);
  if (['metadata', 'metadata.name', 'metadata.namespace'].includes(names.join('.'))) {
    throw new Refused(`ignoreFields: "${path}" names the object and cannot be ignored`);
  }
  return names;
}

function versionOf({ metadata }: WatchEvent['object']): string | undefined {
  if (typeof metadata !== 'object' || metadata === null || !('resourceVersion' in metadata)) return undefined;
  return typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : undefined;
}

/** Keeps a handler told of all objects of one kind: list, then watch, for ever, over every failure. */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #timing: ReflectorTiming;
  readonly #path: string;
  readonly #ignore: readonly (readonly string[])[];
  readonly #random: () => number;
  readonly #backoff: Backoff;
  readonly #trouble: WatchTrouble;
  readonly #known = new KnownObjects();
  readonly #synced = Promise.withResolvers<void>();
  /** Where the watch goes on; undefined when only a list can tell. */
  #position: string | undefined;
  /** What the handler was last told to have. */
  #told: 'nothing' | 'objects' | 'not served' = 'nothing';
  #wake = new AbortController();

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#timing = { ...defaultTiming, ...options.timing };
    this.#path = collectionPath(options.resource, options.namespace);
    this.#ignore = (options.ignoreFields ?? []).map((path) => parseIgnored(path));
    this.#random = options.random ?? Math.random;
    this.#backoff = new Backoff({ ...this.#timing.backoff, random: this.#random });
    this.#trouble = new WatchTrouble({ path: this.#path, clock: options.clock, log: options.log });
  }

  /** Fulfilled when every object of the first list is with the handler; never before, and never when the kind is not served. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Why nothing is told until a person gives rights or credentials; undefined when that is not so. */
  get refusal(): ApiError | undefined {
    return this.#trouble.refusal;
  }

  /** Ends a pause after a failure: discovery has seen the kind come, for example. */
  kick(): void {
    this.#wake.abort();
  }

  /** Runs until the signal aborts; fulfilled then. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#wake = new AbortController();
      try {
        this.#position ??= await this.#list(signal);
        await this.#watch(this.#position, signal);
        this.#options.observe?.({ type: 'restarted' });
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error, signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { pageSize, requestTimeout } = this.#timing;
    const { api, labelSelector, fieldSelector } = this.#options;
    const request = { path: this.#path, labelSelector, fieldSelector, pageSize, timeout: requestTimeout };
    const { items, resourceVersion } = await listAll(api, request, (raw) => this.#accept(raw), signal);
    if (signal.aborted) throw new Cancelled();
    const changes = this.#known.replace(items);
    if (this.#told === 'objects') this.#tell(changes);
    else this.#tellAll();
    this.#options.observe?.({ type: 'listed', objects: this.#known.size });
    return resourceVersion;
  }

  async #watch(position: string, signal: AbortSignal): Promise<void> {
    const { api, labelSelector, fieldSelector, clock } = this.#options;
    const { inactivity, requestTimeout } = this.#timing;
    const ended = new AbortController();
    const request = {
      path: this.#path,
      labelSelector,
      fieldSelector,
      opened: () => this.#trouble.opened(ended.signal),
      resourceVersion: position,
      seconds: this.#watchSeconds(),
      inactivity,
      timeout: requestTimeout,
    };
    const begun = clock.now();
    try {
      for await (const events of watchOnce(api, request, clock, signal)) {
        if (signal.aborted) throw new Cancelled();
        this.#take(events);
        this.#backoff.reset();
        this.#trouble.works();
      }
    } finally {
      ended.abort();
      if (clock.now() - begun >= STABLE) this.#backoff.reset();
    }
    // A server that ends every watch at once must not be asked in a tight loop.
    if (clock.now() - begun < STABLE) await this.#pause(this.#backoff.next(), signal);
  }

  #watchSeconds(): number {
    const [least, most] = this.#timing.watchSeconds;
    return Math.round(least + this.#random() * (most - least));
  }

  #accept(raw: Record<string, unknown>): KubeObject | undefined {
    const object = arrive(raw, this.#options.resource, this.#ignore);
    return this.#options.accept?.(object) === false ? undefined : object;
  }

  #take(events: readonly WatchEvent[]): void {
    const updates: Update[] = [];
    let position = this.#position;
    for (const { type, object: raw } of events) {
      position = versionOf(raw) ?? position;
      if (type === 'BOOKMARK') continue;
      const object = arrive(raw, this.#options.resource, this.#ignore);
      const gone = type === 'DELETED' || this.#options.accept?.(object) === false;
      updates.push([nameOf(object), gone ? undefined : object]);
    }
    this.#tell(this.#known.update(updates));
    this.#position = position;
  }

  #tell(changes: Changes): void {
    if (changes.upserts.length === 0 && changes.deletes.length === 0) return;
    this.#call(() => this.#options.handler.apply(changes));
  }

  #tellAll(): void {
    this.#call(() => this.#options.handler.replace(this.#known.list()));
    this.#told = 'objects';
    this.#synced.resolve();
  }

  /** A handler that threw may have kept half of what it was told: it is told everything again. */
  #call(work: () => void): void {
    try {
      work();
    } catch (cause) {
      this.#told = 'nothing';
      throw new Bug(`the handler of ${this.#path} failed`, { cause });
    }
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    if (this.#mustList(error)) this.#position = undefined;
    if (isApiError(error, 404)) this.#notServed();
    this.#options.observe?.({ type: 'restarted', error });
    const wait = this.#backoff.next(error);
    this.#trouble.failed(error, { failures: this.#backoff.failures, waitMs: Math.round(wait) });
    await this.#pause(wait, signal);
  }

  /**
   * After a broken connection the watch goes on where it was. Any verdict of the server's on the watch itself (gone, a version
   * it has not reached after a restored backup) and anything that was not understood needs a list.
   */
  #mustList(error: unknown): boolean {
    if (error instanceof ApiError) return error.code !== 429 && error.code !== 503;
    return !(error instanceof Retry);
  }

  #notServed(): void {
    if (this.#told === 'not served') return;
    this.#known.replace([]);
    this.#told = 'not served';
    try {
      this.#options.handler.notServed();
    } catch (cause) {
      this.#options.log.error({ path: this.#path, error: cause }, 'the handler of a watch failed');
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await this.#options.clock
      .sleep(ms, AbortSignal.any([signal, this.#wake.signal]))
      .catch((error: unknown) => {
        if (!(error instanceof Cancelled)) throw error;
      });
  }
}
