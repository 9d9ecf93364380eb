import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CONTROLLER,
  JUDGE_BINARY,
  type ControllerAccess,
  type ControllerStatus,
  type HealthReport,
  type LoadedPlugin,
  type MergedConfig,
  type RenderPlan,
  type StoreView,
} from '@haptic/core/contract';
import { createHooks, Host, offer } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import health from './index.ts';

interface World {
  readonly port: number;
  /** A configuration comes to serve. */
  readonly accept: () => void;
  status: ControllerStatus;
  checks: readonly HealthReport[];
  plugins: readonly LoadedPlugin[];
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function world(options: object = {}): Promise<World> {
  const state: { -readonly [K in keyof World]: World[K] } = {
    port: 0,
    accept: () => host.hooks.configAccepted.call({} as MergedConfig, undefined),
    status: { phase: 'waiting' },
    checks: [],
    plugins: [],
  };
  const access: ControllerAccess = {
    status: () => state.status,
    health: () => Promise.resolve(state.checks),
    plugins: () => state.plugins,
    judgeProposal: () => Promise.reject(new Error('not asked here')),
  };
  const host = await Host.start({
    hooks: createHooks(),
    observers: ['configAccepted'],
    log: memoryLog(),
    services: [offer(CONTROLLER, access), offer(JUDGE_BINARY, { version: () => Promise.resolve('3.4.7') })],
    plugins: [
      {
        plugin: health,
        options: {
          port: 0,
          build: () => Promise.resolve({ version: '1.2.3', sourceHash: 'abc' }),
          onListening: ({ port }: { readonly port: number }) => (state.port = port),
          ...options,
        },
      },
    ],
  });
  onTestFinished(() => host.close());
  return state;
}

function get(
  port: number,
  path: string,
  { address = '127.0.0.1', host = 'localhost' }: { readonly address?: string; readonly host?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request({ host: address, port, path, headers: { host } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = response.headers['content-type']?.includes('json') === true;
        resolve({ status: response.statusCode ?? 0, body: isJson ? (JSON.parse(text) as unknown) : text });
      });
    });
    call.on('error', reject);
    call.end();
  });
}

describe('probes', () => {
  test('live from the start, ready while something serves', async () => {
    const here = await world();
    expect(await get(here.port, '/livez')).toEqual({ status: 200, body: 'ok\n' });
    expect(await get(here.port, '/readyz')).toMatchObject({
      status: 503,
      body: { ready: false, phase: 'waiting' },
    });
    here.status = { phase: 'serving' };
    expect(await get(here.port, '/readyz')).toEqual({
      status: 200,
      body: { ready: true, phase: 'serving', checks: [] },
    });
    here.status = { phase: 'stopped' };
    expect(await get(here.port, '/readyz')).toMatchObject({ status: 503 });
    expect(await get(here.port, '/livez')).toMatchObject({ status: 200 });
  });

  test('a refused configuration and a dead validator are told, and take nobody out', async () => {
    const here = await world();
    here.status = { phase: 'serving', problem: new Error('maps: expected an object') };
    here.checks = [
      { plugin: 'validator-external', name: 'waf', problem: 'the socket is absent' },
      { plugin: 'other', name: 'fine', problem: undefined },
    ];
    expect(await get(here.port, '/readyz')).toEqual({
      status: 200,
      body: {
        ready: true,
        phase: 'serving',
        problem: 'maps: expected an object',
        checks: [{ plugin: 'validator-external', name: 'waf', problem: 'the socket is absent' }],
      },
    });
  });

  test('a problem is told without what looks like a secret', async () => {
    const here = await world();
    here.status = { phase: 'serving', problem: new Error('refused: Bearer c2VjcmV0dG9rZW4') };
    here.checks = [{ plugin: 'p', name: 'n', problem: 'asked with Bearer c2VjcmV0dG9rZW4' }];
    const { body } = await get(here.port, '/readyz');
    expect(body).toMatchObject({
      problem: 'refused: Bearer [redacted]',
      checks: [{ problem: 'asked with Bearer [redacted]' }],
    });
  });

  test('other pages are none, and say which there are', async () => {
    const here = await world();
    expect(await get(here.port, '/healthz')).toMatchObject({
      status: 404,
      body: { error: expect.stringContaining('/livez, /readyz and /build') as string },
    });
  });
});

test('the build names the program, its HAProxy and its plugins, mounted ones by their content', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'haptic-build-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const file = join(dir, 'own.mjs');
  await writeFile(file, 'export default {}');
  const here = await world();
  here.plugins = [
    { name: 'routing', use: '@haptic/routing', version: '1.2.3' },
    { name: 'own', use: file },
  ];
  expect(await get(here.port, '/build')).toEqual({
    status: 200,
    body: {
      version: '1.2.3',
      sourceHash: 'abc',
      haproxyVersion: '3.4.7',
      plugins: [
        { name: 'routing', use: '@haptic/routing', version: '1.2.3' },
        { name: 'own', use: file, digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
      ],
    },
  });
});

test('the build is described when a configuration comes to serve, whatever is mounted later', async () => {
  let described = 0;
  const build = () => Promise.resolve({ version: `1.2.${++described}`, sourceHash: 'abc' });
  const here = await world({ build });
  here.accept();
  expect(described).toBe(1);
  expect(await get(here.port, '/build')).toMatchObject({ body: { version: '1.2.1' } });
  here.accept();
  expect(described).toBe(1);
});

test('a build that cannot be described now can be later', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'haptic-build-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const file = join(dir, 'own.mjs');
  const here = await world();
  here.plugins = [{ name: 'own', use: file }];
  expect(await get(here.port, '/build')).toMatchObject({ status: 500 });
  await writeFile(file, 'export default {}');
  expect(await get(here.port, '/build')).toMatchObject({ status: 200, body: { plugins: [{ name: 'own' }] } });
});

/** Words that must never be shown. */
const SECRET = 'c2VjcmV0IGRhdGE=';

const secretPlan = {
  id: 'plan-1',
  sections: [
    { kind: 'core', name: 'userlist x', digest: SECRET, secret: true },
    { kind: 'profile', name: 'be-1', digest: SECRET, secret: true },
    { kind: 'backend', name: 'shop', digest: SECRET, secret: true },
    { kind: 'backend', name: 'open', digest: 'd' },
  ],
  profiles: { 'be-1': { digest: SECRET, base: 'base' } },
  backends: {
    shop: { digest: SECRET, directives: SECRET, servers: [{ name: 'pod-1', keywords: ['pool', SECRET] }] },
    open: { digest: 'd', servers: [] },
  },
  maps: {
    'maps/auth.map': { secret: true, digest: SECRET, entries: [['a', SECRET]] },
    'maps/hosts.map': { secret: false, digest: 'd', entries: [['a', 'b']] },
  },
  certificates: { 'certs/a.pem': { digest: SECRET } },
  files: [
    { path: 'certs/a.pem', kind: 'certificate', digest: SECRET },
    { path: 'maps/auth.map', kind: 'map', digest: SECRET, secret: true },
    { path: 'maps/hosts.map', kind: 'map', digest: 'd' },
  ],
  k8sResources: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { password: SECRET } }],
  events: [{ reason: 'Told' }],
} as unknown as RenderPlan;

const secretObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'Opaque',
  metadata: { name: 's', annotations: { 'kubectl.kubernetes.io/last-applied-configuration': SECRET } },
  data: { password: SECRET },
};

const view = {
  revision: 7,
  watches: ['secrets'],
  watch: () => ({ served: true, list: () => [secretObject] }),
} as unknown as StoreView;

const serving: ControllerStatus = {
  phase: 'serving',
  plan: secretPlan,
  input: { view } as unknown as NonNullable<ControllerStatus['input']>,
  gate: { state: 'open', pending: ['plan-2'] },
  quarantine: [],
};

describe('debugging', () => {
  const pages = [
    '',
    'config',
    'plan',
    'files',
    'events',
    'resources',
    'resources?watch=secrets',
    'baselines',
    'quarantine',
    'gate',
  ];

  test.each(pages)('/debug/%s shows nothing secret', async (page) => {
    const here = await world();
    expect((await get(here.port, `/debug/${page}`)).status, 'before anything serves').toBe(200);
    here.status = serving;
    const { status, body } = await get(here.port, `/debug/${page}`);
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toContain(SECRET);
  });

  test('shows what is not secret', async () => {
    const here = await world();
    here.status = serving;
    expect((await get(here.port, '/debug/plan')).body).toMatchObject({
      id: 'plan-1',
      backends: { shop: { servers: [{ name: 'pod-1' }] }, open: { digest: 'd' } },
      maps: { 'maps/hosts.map': { entries: [['a', 'b']] }, 'maps/auth.map': { entries: '1 secret entries' } },
    });
    expect((await get(here.port, '/debug/gate')).body).toEqual({ state: 'open', pending: ['plan-2'] });
    expect((await get(here.port, '/debug/resources')).body).toEqual({
      revision: 7,
      watches: { secrets: { served: true, objects: 1 } },
    });
    expect((await get(here.port, '/debug/resources?watch=secrets')).body).toMatchObject([
      { keys: ['password'] },
    ]);
    expect(await get(here.port, '/debug/quarantin')).toMatchObject({
      status: 404,
      body: {
        error: 'no such page: /debug/quarantin, did you mean "quarantine"?; /debug/ lists what there is',
      },
    });
    expect(await get(here.port, '/debug/resources?watch=secret')).toMatchObject({
      status: 404,
      body: { error: expect.stringContaining('"secrets"') as string },
    });
  });

  test('is for this machine alone', async () => {
    const here = await world();
    expect(await get(here.port, '/debug/gate', { host: 'evil.example' })).toMatchObject({ status: 403 });
    expect(await get(here.port, '/debug/x', { host: 'evil.example' })).toMatchObject({ status: 403 });
    const address = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
    if (address !== undefined) {
      expect(await get(here.port, '/livez', { address })).toMatchObject({ status: 200 });
      expect(await get(here.port, '/debug/gate', { address })).toMatchObject({ status: 403 });
    }
  });

  test('takes no picture of the memory unless asked to, and can be switched off', async () => {
    const off = await world();
    expect((await get(off.port, '/debug/heap')).status).toBe(404);
    const memory = await world({ debug: { memory: true } });
    expect((await get(memory.port, '/debug/profile?seconds=0.05')).body).toMatchObject({
      nodes: expect.any(Array) as unknown[],
    });
    expect((await get(memory.port, '/debug/profile?seconds=x')).status).toBe(422);
    const none = await world({ debug: { enabled: false } });
    expect((await get(none.port, '/debug/gate')).status).toBe(404);
  });
});
