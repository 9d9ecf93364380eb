import { Cancelled, Outage, Retry, type Clock, type Log } from '@haptic/core/contract';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { KubeApi } from './api.ts';
import { ApiError } from './api-error.ts';
import { Backoff } from './backoff.ts';
import type { Resource } from './resource.ts';

const ServedResource = z.object({
  resource: z.string(),
  responseKind: z.object({ kind: z.string() }).optional(),
  scope: z.enum(['Namespaced', 'Cluster']),
  verbs: z.array(z.string()),
});

const DiscoveryList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string().optional() }).optional(),
      versions: z.array(
        z.object({
          version: z.string(),
          resources: z.array(ServedResource).nullish(),
          freshness: z.string().optional(),
        }),
      ),
    }),
  ),
});
type DiscoveryList = z.output<typeof DiscoveryList>;

/** One answer for all groups; every API server from 1.30 on gives it. */
const ACCEPT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Resources by plural name, by `apiVersion`. */
type Served = ReadonlyMap<string, ReadonlyMap<string, Resource>>;

export interface DiscoveryOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Log;
  /** How often `follow` looks; an unchanged answer costs a 304. Milliseconds. */
  readonly interval?: number;
  /** 0 ≤ x < 1. */
  readonly random?: () => number;
}

const FIRST_RETRY_MS = 500;

/** Which kinds the server serves right now: definitions come and go. */
export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #answers = new Map<string, { readonly etag: string | undefined; readonly served: Served }>();
  /** Something came or went that no refresh has told of: one that half of fails has changed what is known all the same. */
  #untold = false;
  readonly #known = Promise.withResolvers<void>();
  #isKnown = false;
  #problem: string | undefined;
  readonly #outage: Outage;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#outage = new Outage(options.clock);
  }

  /** Resolves when the server has answered for the first time: until then nothing can be said to be absent. */
  get known(): Promise<void> {
    return this.#known.promise;
  }

  /** Why the server was not understood the last time; undefined when it was. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The first of the acceptable versions that is served and can be watched. */
  find(apiVersions: readonly string[], resource: string): Resource | undefined {
    for (const apiVersion of apiVersions) {
      const found = this.#versionOf(apiVersion)?.get(resource);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** All that is served of these versions and can be watched. */
  resourcesOf(apiVersions: readonly string[]): readonly Resource[] {
    return apiVersions.flatMap((apiVersion) => [...(this.#versionOf(apiVersion)?.values() ?? [])]);
  }

  /** By kind, as manifests name it. */
  findKind(apiVersion: string, kind: string): Resource | undefined {
    return this.#versionOf(apiVersion)
      ?.values()
      .find((resource) => resource.kind === kind);
  }

  /**
   * Asks the server; true when something changed since the last time that it did not fail.
   * @throws ApiError when the server refuses, Retry when it does not answer or is not understood
   */
  async refresh(signal?: AbortSignal): Promise<boolean> {
    try {
      await Promise.all(['/api', '/apis'].map((path) => this.#ask(path, signal)));
    } catch (error) {
      if (!(error instanceof Cancelled)) this.#problem = (error as Error).message;
      throw error;
    }
    this.#problem = undefined;
    this.#isKnown = true;
    this.#known.resolve();
    const changed = this.#untold;
    this.#untold = false;
    return changed;
  }

  /** Calls when kinds have come or gone, until the signal aborts. Looks at once where nothing is known yet. */
  async follow(changed: () => void, signal: AbortSignal): Promise<void> {
    const { clock, interval = 10_000, random = Math.random } = this.#options;
    const backoff = new Backoff({ first: Math.min(FIRST_RETRY_MS, interval), most: interval, random });
    let pause = this.#isKnown ? interval : 0;
    while (!signal.aborted) {
      try {
        await clock.sleep(pause, signal);
        const isChanged = await this.refresh(signal);
        this.#works();
        if (isChanged) changed();
        backoff.reset();
        pause = interval;
      } catch (error) {
        if (signal.aborted || error instanceof Cancelled) return;
        pause = backoff.next(error);
        this.#report(error, backoff.failures, pause);
      }
    }
  }

  /** One failure is everyday, but nothing begins before the first success; what a person must mend shows at the second try. */
  #report(error: unknown, failures: number, wait: number): void {
    const { log } = this.#options;
    const figures = { failures, waitMs: Math.round(wait) };
    if (!(error instanceof Retry || error instanceof ApiError)) {
      log.error({ error, ...figures }, 'discovery failed by a fault of ours');
      return;
    }
    const fields = { error: error.message, ...figures };
    const isEveryday = this.#isKnown && failures < 2;
    const reason = error instanceof ApiError ? String(error.code) : error.name;
    if (isEveryday || !this.#outage.isNews(reason)) log.debug(fields, 'discovery failed and is tried again');
    else if (!this.#isKnown)
      log.warn(fields, 'nothing begins before the API server says which kinds it serves');
    else log.warn(fields, 'discovery fails repeatedly, kinds that come or go are not seen');
  }

  #works(): void {
    const forMs = this.#outage.end();
    if (forMs === undefined) return;
    this.#options.log.info({ forMs: Math.round(forMs) }, 'the API server says again which kinds it serves');
  }

  #versionOf(apiVersion: string): ReadonlyMap<string, Resource> | undefined {
    for (const { served } of this.#answers.values()) {
      const found = served.get(apiVersion);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #ask(path: string, signal: AbortSignal | undefined): Promise<void> {
    const known = this.#answers.get(path);
    const etag = known?.etag;
    const headers = { accept: ACCEPT, ...(etag === undefined ? {} : { 'if-none-match': etag }) };
    const { code, headers: told, body } = await this.#options.api.answer({ path, headers, signal });
    if (code === 304) return;
    const list = DiscoveryList.safeParse(body);
    if (!list.success) {
      const why = z.prettifyError(list.error);
      throw new Retry(
        `GET ${path}: expected an APIGroupDiscoveryList, as Kubernetes 1.30 and later give it:\n${why}`,
      );
    }
    const served = servedOf(list.data, known?.served);
    const tag = told['etag'];
    this.#answers.set(path, { etag: typeof tag === 'string' ? tag : undefined, served });
    if (known === undefined || !isDeepStrictEqual(known.served, served)) this.#untold = true;
  }
}

/** A group whose own server does not answer is marked stale: unavailable is not gone, what was known stays. */
function servedOf(list: DiscoveryList, before: Served | undefined): Served {
  const served = new Map<string, ReadonlyMap<string, Resource>>();
  for (const { metadata, versions } of list.items) {
    const group = metadata?.name ?? '';
    for (const { version, resources, freshness } of versions) {
      const apiVersion = group === '' ? version : `${group}/${version}`;
      const known = freshness === 'Stale' ? before?.get(apiVersion) : undefined;
      served.set(apiVersion, known ?? resourcesOf(apiVersion, resources ?? []));
    }
  }
  return served;
}

function resourcesOf(
  apiVersion: string,
  listed: readonly z.output<typeof ServedResource>[],
): ReadonlyMap<string, Resource> {
  const resources = new Map<string, Resource>();
  for (const { resource, responseKind, scope, verbs } of listed) {
    if (responseKind === undefined || !verbs.includes('list') || !verbs.includes('watch')) continue;
    const { kind } = responseKind;
    resources.set(resource, { apiVersion, resource, kind, namespaced: scope === 'Namespaced' });
  }
  return resources;
}
