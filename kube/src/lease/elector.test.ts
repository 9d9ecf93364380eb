import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { Cancelled } from '@haptic/core/contract';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { LeaseStore } from '../testing/lease-store.ts';
import { Elector, type ElectorOptions } from './elector.ts';
import type { LeaseTerm } from './term.ts';

/** Patience is 980 ms: a test's process that waits half a second for its turn changes nothing. */
const timing = { leaseDuration: 1_000, renewDeadline: 500, retryPeriod: 20 };
const patience = timing.leaseDuration - timing.retryPeriod;
/** Of a term that does not end by itself while a test runs. */
const calm = { leaseDuration: 20_000, renewDeadline: 10_000, retryPeriod: 20 };
const soon = { timeout: 5_000, interval: 2 };

interface Candidate {
  readonly elector: Elector;
  readonly terms: LeaseTerm[];
  stop(): Promise<void>;
}

function candidate(store: LeaseStore, identity: string, options: Partial<ElectorOptions> = {}): Candidate {
  const terms: LeaseTerm[] = [];
  const elector = new Elector({
    api: store.server.client(),
    namespace: 'here',
    name: 'leader',
    identity,
    lead: (term) => void terms.push(term),
    clock: systemClock,
    log: memoryLog(),
    timing,
    ...options,
  });
  const stopped = new AbortController();
  const running = elector.run(stopped.signal);
  const stop = async (): Promise<void> => {
    stopped.abort();
    await running;
  };
  onTestFinished(stop);
  return { elector, terms, stop };
}

async function leads({ elector }: Candidate): Promise<void> {
  await vi.waitFor(() => expect(elector.current().leader).toBe(true), soon);
}

/** Waits until the candidate that came second has seen the Lease; the first one looks only once. */
async function hasLooked(store: LeaseStore): Promise<void> {
  const looks = (): number => store.server.calls.filter(({ method }) => method === 'GET').length;
  await vi.waitFor(() => expect(looks()).toBeGreaterThanOrEqual(3), soon);
}

/** Milliseconds. */
async function took(work: Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work;
  return performance.now() - begun;
}

function held(holder: string, epoch: number, renewTime: string): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: 'leader',
      namespace: 'here',
      uid: 'u',
      resourceVersion: '1',
      labels: { by: 'hand' },
      annotations: { 'haproxy-haptic.org/epoch': String(epoch) },
    },
    spec: { holderIdentity: holder, leaseDurationSeconds: 1, renewTime },
  };
}

describe('taking office', () => {
  test('an absent Lease is taken at once, with epoch 1', async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one');
    await leads(one);
    expect(one.elector.current()).toMatchObject({ leader: true, epoch: 1 });
    expect(store.lease).toMatchObject({
      kind: 'Lease',
      metadata: { name: 'leader', namespace: 'here' },
      spec: { holderIdentity: 'one', leaseDurationSeconds: 1, leaseTransitions: 1 },
    });
    expect(store.lease?.spec?.['renewTime']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  test.each(['2001-01-01T00:00:00.000000Z', '2099-01-01T00:00:00.000000Z'])(
    'a held one is waited for by our own clock, whatever it says of the time (%s)',
    async (renewTime) => {
      const store = await LeaseStore.start();
      store.lease = held('other', 7, renewTime) as never;
      const one = candidate(store, 'one');
      expect(await took(leads(one))).toBeGreaterThanOrEqual(patience - 5);
      expect(one.elector.current().epoch).toBe(8);
      expect(store.lease).toMatchObject({
        metadata: { labels: { by: 'hand' } },
        spec: { leaseTransitions: 1 },
      });
    },
  );

  test('the epoch is above what the Lease and anybody reachable has seen', async () => {
    const store = await LeaseStore.start();
    store.lease = held('other', 7, '') as never;
    const one = candidate(store, 'one', { floor: () => Promise.resolve(41) });
    await leads(one);
    expect(one.elector.current().epoch).toBe(42);
  });

  test('of candidates that come together one leads', async () => {
    const store = await LeaseStore.start();
    const all = ['one', 'two', 'three'].map((identity) => candidate(store, identity, { timing: calm }));
    await vi.waitFor(() => expect(all.some(({ elector }) => elector.current().leader)).toBe(true), soon);
    expect(all.filter(({ elector }) => elector.current().leader)).toHaveLength(1);
    expect(store.epoch).toBe(1);
  });

  test('a claim that arrived although its answer was lost is recognised', async () => {
    const store = await LeaseStore.start();
    store.fault = ({ method }) => (method === 'POST' ? 'lose the answer' : undefined);
    const one = candidate(store, 'one', { timing: calm });
    await leads(one);
    expect(store.holder).toBe('one');
    expect(one.elector.current().epoch).toBe(2);
  });

  test('a record that names us but that we did not write may still have another holder', async () => {
    const store = await LeaseStore.start();
    store.lease = held('one', 7, '2030-01-01T00:00:00.000000Z') as never;
    const one = candidate(store, 'one');
    expect(await took(leads(one))).toBeGreaterThanOrEqual(patience - 5);
  });
});

describe('a term', () => {
  test('lasts as long as it is renewed', async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one', { timing: calm });
    const two = candidate(store, 'two', { timing: calm });
    await vi.waitFor(
      () => expect(store.server.calls.filter(({ method }) => method === 'PUT').length).toBeGreaterThan(20),
      soon,
    );
    expect([...one.terms, ...two.terms]).toHaveLength(1);
    expect(store.epoch).toBe(1);
  });

  test.each(['refuse', 'reset', 'hang'] as const)(
    'ends before the Lease can expire when the API fails: %s',
    async (fault) => {
      const store = await LeaseStore.start();
      const one = candidate(store, 'one');
      await leads(one);
      const term = one.elector.current();
      store.fault = () => fault;
      const ended = vi.waitFor(() => expect(term.signal.aborted).toBe(true), soon);
      expect(await took(ended)).toBeLessThan(patience);
      expect(one.elector.current().leader).toBe(false);
      store.fault = undefined;
      // Nobody wrote since we did, so nobody else can have led: there is nothing to wait for.
      expect(await took(leads(one))).toBeLessThan(patience - 100);
      expect(one.elector.current().epoch).toBe(2);
    },
  );

  test('survives an answer that was lost, an edit by hand, and the deletion of the Lease', async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one', { timing: calm });
    await leads(one);
    let lost = 0;
    store.fault = ({ method }) => (method === 'PUT' && (lost += 1) === 1 ? 'lose the answer' : undefined);
    await vi.waitFor(() => expect(lost).toBeGreaterThan(2), soon);
    store.edit((lease) => ({ ...lease, metadata: { ...lease.metadata, labels: { by: 'hand' } } }));
    const writes = lost;
    await vi.waitFor(() => expect(lost).toBeGreaterThan(writes + 2), soon);
    expect(store.lease).toMatchObject({ metadata: { labels: { by: 'hand' } } });
    store.lease = undefined;
    await vi.waitFor(() => expect(store.holder).toBe('one'), soon);
    expect(one.terms).toHaveLength(1);
    expect(one.terms[0]?.leader).toBe(true);
    expect(store.epoch).toBe(1);
  });

  test('ends at once when somebody else is the holder', async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one');
    await leads(one);
    store.edit((lease) => ({ ...lease, spec: { ...lease.spec, holderIdentity: 'thief' } }));
    await vi.waitFor(() => expect(one.terms[0]?.signal.aborted).toBe(true), soon);
    await leads(one);
    expect(one.elector.current().epoch).toBe(2);
  });

  test('ends when its work fails, and the next one begins', async () => {
    const store = await LeaseStore.start();
    let runs = 0;
    const lead = (): void => {
      runs += 1;
      if (runs < 3) throw new Error('the work fails');
    };
    const one = candidate(store, 'one', { lead });
    await vi.waitFor(() => expect(runs).toBe(3), soon);
    await leads(one);
    expect(one.elector.current().epoch).toBe(3);
  });

  test('rises above an epoch that somebody has seen', async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one', { timing: calm });
    await leads(one);
    await expect(one.elector.raise(99, AbortSignal.timeout(5_000))).resolves.toBe(100);
    expect(one.elector.current().epoch).toBe(100);
    expect(store.epoch).toBe(100);
    expect(one.terms).toHaveLength(1);
    await expect(one.elector.raise(5, AbortSignal.timeout(5_000))).resolves.toBe(100);
  });

  test('goes on when it has risen but the answer was lost', async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one', { timing: calm });
    await leads(one);
    let lost = false;
    store.fault = ({ method, body }) => {
      if (lost || method !== 'PUT' || !JSON.stringify(body).includes('"100"')) return undefined;
      lost = true;
      return 'lose the answer';
    };
    await expect(one.elector.raise(99, AbortSignal.timeout(5_000))).resolves.toBe(100);
    expect(lost).toBe(true);
    expect(one.terms).toHaveLength(1);
    expect(one.terms[0]?.leader).toBe(true);
  });

  test('a raise that is called off does not wait for the server', async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one');
    await leads(one);
    store.fault = () => 'hang';
    const raised = one.elector.raise(99, AbortSignal.timeout(50));
    const late = new Promise((resolve) => void setTimeout(resolve, 300, 'late'));
    await expect(Promise.race([raised, late])).rejects.toThrow(Cancelled);
  });

  test('a server that refuses every renewal is not asked in a tight loop', async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one', { timing: { ...timing, retryPeriod: 200 } });
    await leads(one);
    const before = store.server.calls.length;
    store.fault = ({ method }) => (method === 'PUT' ? 'conflict' : undefined);
    await vi.waitFor(() => expect(one.elector.current().leader).toBe(false), soon);
    expect(store.server.calls.length - before).toBeLessThan(50);
  });

  test('does not rise when it is over', async () => {
    const store = await LeaseStore.start();
    store.lease = held('other', 7, '') as never;
    const one = candidate(store, 'one');
    await expect(one.elector.raise(99, AbortSignal.timeout(5_000))).rejects.toThrow('the term has ended');
  });
});

describe('another timing', () => {
  const of = (name: string) => (call: { readonly body: unknown }) =>
    JSON.stringify(call.body ?? '').includes(`"holderIdentity":"${name}"`) ? ('reset' as const) : undefined;
  const promised = (store: LeaseStore): unknown => store.lease?.spec?.['leaseDurationSeconds'];

  test('of a candidate never makes it take the Lease of one that still leads', async () => {
    const store = await LeaseStore.start();
    const late = { leaseDuration: 2_000, renewDeadline: 1_900, retryPeriod: 40 };
    const early = { leaseDuration: 2_000, renewDeadline: 1_300, retryPeriod: 600 };
    const one = candidate(store, 'one', { timing: late });
    await leads(one);
    const two = candidate(store, 'two', { timing: early });
    await hasLooked(store);
    store.fault = of('one');
    await leads(two);
    expect(one.elector.current().leader).toBe(false);
  });

  test('of a candidate does not shorten what a deleted Lease promised', async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one', { timing: { ...calm, leaseDuration: 30_000 } });
    await leads(one);
    candidate(store, 'two', { timing: calm });
    await hasLooked(store);
    store.fault = of('one');
    store.lease = undefined;
    await vi.waitFor(() => expect(store.holder).toBe(''), soon);
    expect(promised(store)).toBe(30);
  });

  test('takes effect at once, and the term goes on', async () => {
    const store = await LeaseStore.start();
    // Nothing is renewed by itself while this test runs.
    const one = candidate(store, 'one', { timing: { ...calm, retryPeriod: 4_000 } });
    await leads(one);
    await vi.waitFor(() => expect(one.terms[0]!.left).toBeLessThan(calm.renewDeadline - 700), soon);
    one.elector.retime({ leaseDuration: 2_000, renewDeadline: 600, retryPeriod: 20 });
    await vi.waitFor(() => expect(promised(store)).toBe(2), soon);
    one.elector.retime(calm);
    await vi.waitFor(() => expect(promised(store)).toBe(20), soon);
    expect(one.terms[0]?.leader).toBe(true);
    expect(one.terms).toHaveLength(1);
    expect(() => one.elector.retime({ ...calm, renewDeadline: calm.leaseDuration })).toThrow('expected');
  });

  test('of which nobody knows whether the Lease promises it is kept as well as the one before', async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one', { timing: calm });
    await leads(one);
    store.fault = ({ body }) =>
      JSON.stringify(body ?? '').includes('"leaseDurationSeconds":2,') ? 'lose the answer' : undefined;
    one.elector.retime({ leaseDuration: 2_000, renewDeadline: 600, retryPeriod: 20 });
    await vi.waitFor(() => expect(promised(store)).toBe(2), soon);
    store.fault = () => 'hang';
    expect(one.terms[0]!.left).toBeLessThanOrEqual(600);
    await vi.waitFor(() => expect(one.elector.current().leader).toBe(false), soon);
  });
});

describe('a Lease that was deleted', () => {
  /** Deletes it whenever somebody has written it. */
  function keepsVanishing(store: LeaseStore): void {
    store.fault = ({ method }) => {
      if (method === 'GET') store.lease = undefined;
      return undefined;
    };
  }

  test("is put back as nobody's by a candidate, and claimed back by its holder", async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one', { timing: calm });
    await leads(one);
    const two = candidate(store, 'two', { timing: calm });
    await hasLooked(store);
    store.fault = ({ method, body }) =>
      store.lease === undefined && method === 'POST' && JSON.stringify(body).includes('"one"')
        ? 'refuse'
        : undefined;
    store.lease = undefined;
    const putBack = (): boolean =>
      store.server.calls.some(
        ({ method, body }) => method === 'POST' && JSON.stringify(body).includes('"holderIdentity":""'),
      );
    await vi.waitFor(() => expect(putBack() && store.holder).toBe('one'), soon);
    expect(one.elector.current()).toMatchObject({ leader: true, epoch: 1 });
    expect(two.terms).toHaveLength(0);
  });

  test('is not taken by a candidate that never sees it stand', async () => {
    const store = await LeaseStore.start();
    const other = candidate(store, 'other');
    await leads(other);
    const one = candidate(store, 'one');
    await hasLooked(store);
    keepsVanishing(store);
    await other.stop();
    const before = store.server.calls.length;
    await vi.waitFor(() => expect(store.server.calls.length).toBeGreaterThan(before + 40), soon);
    expect(one.terms).toHaveLength(0);
  });

  test('is not taken at once by a new process when somebody has seen an epoch', async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one', {
      floor: () => Promise.resolve(6),
    });
    expect(await took(leads(one))).toBeGreaterThanOrEqual(patience - 5);
    expect(one.elector.current().epoch).toBe(7);
  });
});

describe('the hand-over', () => {
  test('gives the Lease to the next one at once', async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one', { timing: calm });
    await leads(one);
    const two = candidate(store, 'two', { timing: calm });
    await one.stop();
    expect(one.terms[0]?.signal.aborted).toBe(true);
    await leads(two);
    expect(two.elector.current().epoch).toBe(2);
  });

  test('happens also when the process is called off while it takes office', async () => {
    const store = await LeaseStore.start();
    const one = candidate(store, 'one', { timing: calm });
    const arrived = Promise.withResolvers<void>();
    store.fault = ({ method }) => {
      if (method === 'POST') arrived.resolve();
      return undefined;
    };
    await arrived.promise;
    await one.stop();
    expect(store.holder).toBe('');
    expect(one.terms).toHaveLength(0);
    const two = candidate(store, 'two', { timing: calm });
    await leads(two);
  });

  test('a follower that is called off does not wait for the server', async () => {
    const store = await LeaseStore.start();
    store.lease = held('other', 7, '') as never;
    store.fault = () => 'hang';
    const one = candidate(store, 'one', { timing: calm });
    await vi.waitFor(() => expect(store.server.calls).toHaveLength(1), soon);
    expect(await took(one.stop())).toBeLessThan(5_000);
  });

  test('waits for the work of the term, and is left out when that does not end', async () => {
    const store = await LeaseStore.start();
    const work = Promise.withResolvers<void>();
    const one = candidate(store, 'one', { lead: () => work.promise });
    await leads(one);
    await one.stop();
    expect(store.holder).toBe('one');
    work.resolve();
  });

  test('a holder that was blanked by hand has not handed over', async () => {
    const store = await LeaseStore.start();
    store.lease = held('', 7, '') as never;
    const one = candidate(store, 'one');
    expect(await took(leads(one))).toBeGreaterThanOrEqual(patience - 5);
  });

  test('a process does not lead again while the work of its last term still runs', async () => {
    const store = await LeaseStore.start();
    const work = Promise.withResolvers<void>();
    let runs = 0;
    const one = candidate(store, 'one', { lead: () => ((runs += 1) === 1 ? work.promise : undefined) });
    await leads(one);
    store.fault = () => 'refuse';
    await vi.waitFor(() => expect(one.elector.current().leader).toBe(false), soon);
    store.fault = undefined;
    const before = store.server.calls.length;
    await vi.waitFor(() => expect(store.server.calls.length).toBeGreaterThan(before + 20), soon);
    expect(runs).toBe(1);
    work.resolve();
    await leads(one);
    expect(runs).toBe(2);
  });
});

test('that the Lease cannot be written is told once, and when it can be again', async () => {
  const store = await LeaseStore.start();
  const log = memoryLog();
  store.fault = () => 'refuse';
  const one = candidate(store, 'a', { log });
  const lines = (): readonly string[] => log.records.map(({ message }) => message);
  await vi.waitFor(() => expect(store.server.calls.length).toBeGreaterThan(10), soon);
  expect(lines()).toEqual(['the lease could not be read or written']);
  expect(one.elector.problem).toContain('500');
  store.fault = undefined;
  await leads(one);
  await vi.waitFor(() => expect(lines()).toContain('the lease can be read and written again'), soon);
  expect(one.elector.problem).toBeUndefined();
  expect(lines().filter((line) => line.startsWith('the lease could not'))).toHaveLength(1);
});
