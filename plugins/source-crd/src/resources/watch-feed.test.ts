import type { KubeObject, StoreSink, WatchContent } from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { Discovery } from '@haptic/kube';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ScriptedApi, sends, status, type Call } from '../../../../kube/src/testing/scripted-api.ts';
import { Interests } from './interests.ts';
import { Subscription } from './subscription.ts';
import { WatchPool } from './watch-pool.ts';

const unset = {
  optional: false,
  indexBy: [],
  namespaces: [],
  ignoreFields: [],
  admission: false,
  debounce: 0,
};
const things: WatchContent = { ...unset, apiVersions: ['a.example/v1'], resources: 'things', optional: true };
const coreWatch = (resources: string): WatchContent => ({ ...unset, apiVersions: ['v1'], resources });

const soon = { timeout: 20_000, interval: 10 };

function served(group: string, resources: readonly string[]): object {
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

function object(name: string, fields: object = {}): KubeObject {
  return {
    ...fields,
    apiVersion: 'v1',
    kind: 'X',
    metadata: { namespace: 'n', name, uid: name, resourceVersion: '1' },
  };
}

interface Scene {
  readonly told: string[];
  readonly discovery: Discovery;
  readonly subscription: Subscription;
  /** Groups that discovery lists. */
  groups: object[];
  /** How a collection answers; without: what `collections` has. */
  answer: (call: Call) => readonly [code: number, body: unknown] | undefined;
  readonly collections: Record<string, readonly KubeObject[]>;
  /** Requests of lists for a collection. */
  lists(path: string): number;
  /** An event of an open watch of a collection. */
  event(path: string, type: string, object: KubeObject): void;
}

/** Watches of a store over an API server of which the test says what it serves. */
async function scene(watches: Readonly<Record<string, WatchContent>>): Promise<Scene> {
  const server = await ScriptedApi.start();
  const open = new Map<string, { write(text: string): void }>();
  const told: string[] = [];
  const words = (objects: readonly KubeObject[]): string => objects.map((one) => one.metadata.name).join(' ');
  const sink: StoreSink = {
    replace: (watch, objects) => void told.push(`${watch} = ${words(objects)}`),
    apply: (watch, { upserts }) => void told.push(`${watch} + ${words(upserts)}`),
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
    groups: [],
    answer: () => undefined,
    collections: {},
    lists: (path) => server.calls.filter((call) => call.path === path && !('watch' in call.query)).length,
    event: (path, type, one) => open.get(path)!.write(`${JSON.stringify({ type, object: one })}\n`),
  };
  server.otherwise((response, call) => {
    if (call.path === '/api')
      return sends(200, { items: [served('', ['configmaps', 'secrets'])] })(response, call);
    if (call.path === '/apis') return sends(200, { items: here.groups })(response, call);
    const [code, body] = here.answer(call) ?? [
      200,
      { metadata: { resourceVersion: '1' }, items: here.collections[call.path] ?? [] },
    ];
    if (code !== 200 || !('watch' in call.query)) return sends(code, body)(response, call);
    response.writeHead(200).flushHeaders();
    open.set(call.path, response);
  });
  onTestFinished(async () => {
    stop.abort();
    subscription.stop();
    await pool.idle();
  });
  await discovery.refresh();
  return here;
}

/** The server's lists of kinds once more, and what follows. */
async function look({ discovery, subscription }: Scene): Promise<void> {
  await discovery.refresh();
  subscription.resolve();
}

const THINGS = '/apis/a.example/v1/things';

test('a kind that discovery does not list stays until its collection is gone', async () => {
  const here = await scene({ things });
  here.groups = [served('a.example', ['things'])];
  here.collections[THINGS] = [object('a')];
  await here.discovery.refresh();
  await here.subscription.fill();
  expect(here.told).toEqual(['things = a']);

  here.groups = [];
  const before = here.lists(THINGS);
  await look(here);
  // It asked, and was told that the collection is there.
  await vi.waitFor(() => expect(here.lists(THINGS)).toBeGreaterThan(before), soon);
  here.event(THINGS, 'ADDED', object('b'));
  await vi.waitFor(() => expect(here.told.at(-1)).toBe('things + b'), soon);

  // A server that cannot say is no proof either.
  const later = here.lists(THINGS);
  here.answer = ({ path }) => (path === THINGS ? [503, status(503, 'ServiceUnavailable')] : undefined);
  await vi.waitFor(() => expect(here.lists(THINGS)).toBeGreaterThan(later + 1), soon);
  expect(here.told.at(-1)).toBe('things + b');

  here.answer = ({ path }) => (path === THINGS ? [404, status(404, 'NotFound')] : undefined);
  await vi.waitFor(() => expect(here.told.at(-1)).toBe('things gone'), soon);
});

test('a kind that is listed again meanwhile was never gone', async () => {
  const here = await scene({ things });
  const groups = [served('a.example', ['things'])];
  here.groups = groups;
  here.collections[THINGS] = [object('a')];
  await here.discovery.refresh();
  await here.subscription.fill();
  here.groups = [];
  here.answer = ({ query }) => ('watch' in query ? undefined : [503, status(503, 'ServiceUnavailable')]);
  const before = here.lists(THINGS);
  await look(here);
  await vi.waitFor(() => expect(here.lists(THINGS)).toBeGreaterThan(before), soon);
  here.groups = groups;
  await look(here);
  here.answer = () => undefined;
  here.event(THINGS, 'ADDED', object('b'));
  await vi.waitFor(() => expect(here.told.at(-1)).toBe('things + b'), soon);
  expect(here.told).toEqual(['things = a', 'things + b']);
});

test('an optional kind that was never listed is not told to be absent before the server says so', async () => {
  const here = await scene({ things });
  here.answer = () => [500, status(500, 'InternalError')];
  const filling = here.subscription.fill();
  await vi.waitFor(() => expect(here.lists(THINGS)).toBeGreaterThan(1), soon);
  expect(here.told).toEqual([]);
  here.answer = () => [404, status(404, 'NotFound')];
  await filling;
  expect(here.told).toEqual(['things gone']);
});

test('an optional kind that may not be read is absent where it is not listed', async () => {
  const here = await scene({ things });
  here.answer = () => [403, status(403, 'Forbidden')];
  await here.subscription.fill();
  expect(here.told).toEqual(['things gone']);
});

const [MAPS, SECRETS] = ['/api/v1/configmaps', '/api/v1/secrets'];
const tls = { type: 'kubernetes.io/tls' };

test('a Secret that is there is not asked for when it is named, and again when it comes back as another', async () => {
  const here = await scene({ maps: coreWatch('configmaps'), secrets: coreWatch('secrets') });
  here.collections[SECRETS] = [object('cert', tls), object('other', { type: 'Opaque' })];
  await here.subscription.fill();
  await vi.waitFor(() => expect(here.lists(SECRETS)).toBe(1), soon);

  here.event(MAPS, 'ADDED', object('names', { data: { secret: 'cert' } }));
  await vi.waitFor(() => expect(here.told.at(-1)).toBe('maps + names'), soon);
  here.event(MAPS, 'ADDED', object('too', { data: { secret: 'other' } }));
  await vi.waitFor(() => expect(here.told.at(-1)).toBe('secrets = cert other'), soon);
  expect(here.lists(SECRETS), 'for the one that was not there').toBe(2);

  here.event(MAPS, 'ADDED', object('third', { data: { secret: 'late' } }));
  here.collections[SECRETS] = [object('late', tls)];
  await vi.waitFor(() => expect(here.told.at(-1)).toBe('secrets = late'), soon);
});

test('a TLS Secret that is made anew with another type stays as long as it is named', async () => {
  const here = await scene({ maps: coreWatch('configmaps'), secrets: coreWatch('secrets') });
  here.collections[SECRETS] = [object('cert', tls)];
  await here.subscription.fill();
  here.event(MAPS, 'ADDED', object('names', { data: { secret: 'cert' } }));
  await vi.waitFor(() => expect(here.told.at(-1)).toBe('maps + names'), soon);
  here.collections[SECRETS] = [object('cert', { type: 'Opaque' })];
  await vi.waitFor(() => here.event(SECRETS, 'DELETED', object('cert', tls)), soon);
  await vi.waitFor(() => expect(here.told.at(-1)).toBe('secrets = cert'), soon);
  expect(here.lists(SECRETS)).toBe(2);
});
