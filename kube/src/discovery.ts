import { Cancelled, type Clock, type Log } from '@haptic/core/contract';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { KubeApi } from './api.ts';
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
}

/** Which kinds the server serves right now: definitions come and go. */
export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #answers = new Map<string, { readonly etag: string | undefined; readonly served: Served }>();
  /** Something came or went that no refresh has told of: one that half of fails has changed what is known all the same. */
  #untold = false;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
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

  /** Asks the server; true when something changed since the last time that it did not fail. */
  async refresh(signal?: AbortSignal): Promise<boolean> {
    await Promise.all(['/api', '/apis'].map((path) => this.#ask(path, signal)));
    const changed = this.#untold;
    this.#untold = false;
    return changed;
  }

  /** Calls when kinds have come or gone, until the signal aborts. */
  async follow(changed: () => void, signal: AbortSignal): Promise<void> {
    const { clock, log, interval = 10_000 } = this.#options;
    while (!signal.aborted) {
      try {
        await clock.sleep(interval, signal);
        if (await this.refresh(signal)) changed();
      } catch (error) {
        if (signal.aborted || error instanceof Cancelled) return;
        log.debug({ error }, 'discovery failed and is tried again');
      }
    }
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
    const served = servedOf(DiscoveryList.parse(body), known?.served);
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
