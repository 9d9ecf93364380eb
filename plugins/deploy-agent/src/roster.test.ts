import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Rendered } from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import type { PodEndpoint } from './endpoints.ts';
import { Epoch } from './epoch.ts';
import { KnownPlans } from './known-plans.ts';
import { PlanChunks } from './plan-chunks.ts';
import { PodSession } from './pod-session.ts';
import { whatIsWrong } from './pod-states.ts';
import { Roster } from './roster.ts';

/** Takes requests and answers none. */
let silent: Server;
let url: string;
let roster: Roster;
let changes: number;

const settings = {
  port: 1,
  applyTimeout: 60_000,
  poll: 1_000,
  driftInterval: 60_000,
  waves: { soak: 0, size: 1 },
};

beforeEach(async () => {
  silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  changes = 0;
  const log = memoryLog();
  const changed = (): void => void (changes += 1);
  const shared = { plans: new KnownPlans(), chunks: new PlanChunks(), epoch: new Epoch(() => undefined) };
  roster = new Roster({
    open: (endpoint, left) =>
      new PodSession({
        ...shared,
        settings: () => settings,
        log,
        clock: systemClock,
        changed,
        endpoint,
        left,
      }),
    log,
    changed,
  });
});

afterEach(async () => {
  await roster.close();
  silent.closeAllConnections();
  silent.close();
});

const pod = (name: string, more: Partial<PodEndpoint> = {}): PodEndpoint => ({
  id: name,
  name,
  url,
  ...more,
});

test('it is known which pods there are when somebody has said so, though there be none', async () => {
  expect(whatIsWrong(roster)).toContain('not known yet');
  roster.set([]);
  await roster.known;
  expect(whatIsWrong(roster)).toBeUndefined();
  roster.set([pod('a'), pod('b', { stops: true })]);
  expect(whatIsWrong(roster)).toBe('no answer from a');
});

test('a pod keeps its session until it leaves, and another of its name gets its own', () => {
  roster.set([pod('a', { id: '1' }), pod('b')]);
  const first = roster.byName('a')!;
  roster.set([pod('a', { id: '1', stops: true }), pod('b'), pod('c')]);
  expect(roster.byName('a')).toBe(first);
  expect(first.stops).toBe(true);
  roster.set([pod('c'), pod('a', { id: '2', uid: 'u' }), pod('b')]);
  expect(first.left.aborted).toBe(true);
  expect(roster.byName('a')).not.toBe(first);
  expect(roster.byName('a')).toMatchObject({ id: '2', stops: false });
  expect(roster.byName('a')?.pod()).toMatchObject({ name: 'a', uid: 'u' });
  expect(roster.sessions.map(({ id }) => id).toSorted()).toEqual(['2', 'b', 'c']);
  expect(changes).toBe(3);
});

test('from one to fifty to none', async () => {
  const pods = Array.from({ length: 50 }, (_, index) => pod(`p${index}`));
  roster.set(pods.slice(0, 1));
  roster.set(pods);
  const { sessions } = roster;
  roster.set([]);
  expect(sessions.every(({ left }) => left.aborted)).toBe(true);
  expect(roster.sessions).toEqual([]);
  await roster.close();
});

test('what is under way to a pod ends with it, and nothing is believed of it any more', async () => {
  roster.set([pod('a')]);
  const session = roster.byName('a')!;
  const plan = { id: 'x'.repeat(64), binds: [] };
  const order = {
    plan: { pod: 'a', mode: 'reload', reasons: ['why'], ops: [], inPlaceOps: [], files: [], binds: [] },
    rendered: { plan } as unknown as Rendered,
    validated: true,
  } as const;
  const asked = once(silent, 'request');
  const deploying = session.deploy(order, new AbortController().signal);
  await asked;
  roster.set([]);
  expect(await deploying).toMatchObject({
    pod: 'a',
    result: 'unreachable',
    reasons: ['why'],
    message: 'the pod is gone',
  });
});
