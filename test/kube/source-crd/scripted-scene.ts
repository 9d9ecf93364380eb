import {
  parseFieldSelector,
  type KubeObject,
  type ObjectInterest,
  type StoreSink,
  type WatchContent,
} from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { Discovery } from '@haptic/kube';
import { onTestFinished } from 'vitest';
import { ScriptedApi, sends, type Call } from '../../../kube/src/testing/scripted-api.ts';
import { Interests } from '../../../plugins/source-crd/src/resources/interests.ts';
import { Subscription } from '../../../plugins/source-crd/src/resources/subscription.ts';
import { WatchPool } from '../../../plugins/source-crd/src/resources/watch-pool.ts';

export const unset = {
  optional: false,
  indexBy: [],
  namespaces: [],
  ignoreFields: [],
  admission: false,
  debounce: 0,
};
export const coreWatch = (resources: string): WatchContent => ({ ...unset, apiVersions: ['v1'], resources });

export const soon = { timeout: 20_000, interval: 10 };

export function served(group: string, resources: readonly string[]): object {
  return {
    metadata: { name: group },
    versions: [
      {
        version: 'v1',
        freshness: 'Current',
        resources: resources.map((resource) => ({
          resource,
          responseKind: { group, version: 'v1', kind: resource },
          scope: 'Namespaced',
          verbs: ['list', 'watch'],
        })),
      },
    ],
  };
}

export function object(name: string, fields: object = {}): KubeObject {
  return {
    ...fields,
    apiVersion: 'v1',
    kind: 'X',
    metadata: { namespace: 'n', name, uid: name, resourceVersion: '1' },
  };
}

export interface Scene {
  readonly told: string[];
  readonly discovery: Discovery;
  readonly subscription: Subscription;
  readonly interests: Interests;
  /** Groups that discovery lists. */
  groups: object[];
  /** How a collection answers; without: what `collections` has. */
  answer: (call: Call) => readonly [code: number, body: unknown] | undefined;
  readonly collections: Record<string, readonly KubeObject[]>;
  /** Of lists, in their order. */
  readonly selectors: string[];
  /** Requests of lists for a collection. */
  lists(path: string): number;
  /** An event of the open watches of a collection that select the object. @throws Error when there are none */
  event(path: string, type: string, object: KubeObject): void;
}

function isSelected({ query }: Call, one: KubeObject): boolean {
  return parseFieldSelector(query['fieldSelector'] ?? '')(one);
}

/** Watches of a store over an API server of which the test says what it serves. ConfigMaps name a Secret. */
export async function openScene(
  watches: Readonly<Record<string, WatchContent>>,
  interest: Partial<ObjectInterest> = {},
): Promise<Scene> {
  const server = await ScriptedApi.start();
  const open = new Map<{ write(text: string): void }, Call>();
  const told: string[] = [];
  const words = (objects: readonly KubeObject[]): string => objects.map((one) => one.metadata.name).join(' ');
  const sink: StoreSink = {
    replace: (watch, objects) => void told.push(`${watch} = ${words(objects)}`),
    apply: (watch, { upserts, deletes }) => {
      if (upserts.length > 0) told.push(`${watch} + ${words(upserts)}`);
      if (deletes.length > 0) told.push(`${watch} - ${deletes.map(({ name }) => name).join(' ')}`);
    },
    notServed: (watch) => void told.push(`${watch} gone`),
  };
  const stop = new AbortController();
  const log = memoryLog();
  const api = server.client();
  const discovery = new Discovery({ api, clock: systemClock, log });
  const pool = new WatchPool({
    api,
    clock: systemClock,
    log,
    notServed: () => undefined,
    observe: () => undefined,
  });
  const interests = new Interests();
  interests.add({
    apiVersion: 'v1',
    resources: 'configmaps',
    secrets: ({ data }) => [{ namespace: 'n', name: (data as { secret: string }).secret }],
    ...interest,
  });
  const subscription = new Subscription({
    watches,
    sink,
    api,
    discovery,
    pool,
    interests,
    clock: systemClock,
    log,
    signal: stop.signal,
  });
  const here: Scene = {
    told,
    discovery,
    subscription,
    interests,
    groups: [],
    answer: () => undefined,
    collections: {},
    selectors: [],
    lists: (path) => server.calls.filter((call) => call.path === path && !('watch' in call.query)).length,
    event(path, type, one) {
      const watches = [...open].filter(([, call]) => call.path === path && isSelected(call, one));
      if (watches.length === 0) throw new Error(`nobody watches ${one.metadata.name} in ${path}`);
      for (const [response] of watches) response.write(`${JSON.stringify({ type, object: one })}\n`);
    },
  };
  server.otherwise((response, call) => {
    if (call.path === '/api')
      return sends(200, { items: [served('', ['configmaps', 'secrets', 'namespaces'])] })(response, call);
    if (call.path === '/apis') return sends(200, { items: here.groups })(response, call);
    const items = (here.collections[call.path] ?? []).filter((one) => isSelected(call, one));
    const [code, body] = here.answer(call) ?? [200, { metadata: { resourceVersion: '1' }, items }];
    const { fieldSelector, watch } = call.query;
    if (fieldSelector !== undefined && watch === undefined) here.selectors.push(fieldSelector);
    if (code !== 200 || watch === undefined) return sends(code, body)(response, call);
    response.writeHead(200).flushHeaders();
    open.set(response, call);
    response.on('close', () => open.delete(response));
  });
  onTestFinished(async () => {
    stop.abort();
    subscription.stop();
    await pool.idle();
  });
  await discovery.refresh();
  return here;
}
