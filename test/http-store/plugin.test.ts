import { describe, expect, it } from 'vitest';
import { TEMPLATE_NAMES } from '@haptic/core/contract';
import { offer } from '@haptic/core/host';
import { pluginContract } from '@haptic/core/testing';
import plugin from '@haptic/http-store';
import { until } from '../haproxy/until.ts';
import { httpServer, plain, tagged } from './http-server.ts';
import { memoryState, startStore, type Store } from './start-store.ts';

const MINUTE = 60_000;

const results = ({ meter }: Store): Record<string, number> =>
  Object.fromEntries(
    meter.series('haptic_http_store_fetch_total').map(({ labels, value }) => [labels['result'], value]),
  );

describe('the plugin', () => {
  for (const { name, run } of pluginContract(plugin, {
    options: {},
    services: () => [offer(TEMPLATE_NAMES, { global() {}, helper() {} })],
  }))
    it(name, run);

  it.each([
    [{ allowHosts: ['Example.com'] }],
    [{ allowAddresses: ['10.0.0.0/99'] }],
    [{ maxUrls: 0 }],
    [{ allowHost: ['a'] }],
  ])('refuses the options %j', (options) => {
    expect(plugin.options.safeParse(options).success).toBe(false);
  });

  it('does nothing while nobody wants anything', async () => {
    const store = await startStore();
    expect(store.clock.sleepers).toBe(0);
    expect(store.contents.accepted().size + store.contents.pending().size).toBe(0);
  });
});

describe('a wanted URL', () => {
  it('is fetched, pending, accepted; and again when it has changed', async () => {
    const server = await httpServer(tagged('one'));
    const url = `${server.origin}/list?token=secret`;
    const store = await startStore();
    let told = 0;
    store.contents.onPending(() => told++);
    store.want({ [url]: { interval: '1m' } });
    await store.attempts(1);
    expect([...store.contents.pending()]).toEqual([[url, 'one']]);
    expect([...store.contents.accepted()]).toEqual([]);
    store.contents.accept(store.contents.pending());
    const accepted = store.contents.accepted();
    expect([...accepted]).toEqual([[url, 'one']]);
    await store.clock.advance(MINUTE);
    await store.attempts(2);
    expect(store.contents.pending().size).toBe(0);
    expect(store.contents.accepted()).toBe(accepted);
    server.answer = tagged('two');
    await store.clock.advance(MINUTE);
    await store.attempts(3);
    expect([...store.contents.pending()]).toEqual([[url, 'two']]);
    expect([...store.contents.accepted()]).toEqual([[url, 'one']]);
    expect(told).toBe(2);
    expect(results(store)).toEqual({ changed: 2, unchanged: 1 });
    expect(store.meter.series('haptic_http_store_fetch_duration_seconds')).toHaveLength(2);
    expect(JSON.stringify(store.log.records)).not.toContain('secret');
  });

  it('is told of once while nobody accepts it, until it says something else', async () => {
    const server = await httpServer(tagged('one'));
    const url = `${server.origin}/`;
    const store = await startStore();
    let told = 0;
    store.contents.onPending(() => told++);
    store.want({ [url]: {} });
    for (let attempts = 1; attempts <= 3; attempts++) {
      await store.attempts(attempts);
      await store.clock.advance(6 * MINUTE);
    }
    await store.attempts(4);
    expect([...store.contents.pending()]).toEqual([[url, 'one']]);
    expect(told).toBe(1);
    server.answer = tagged('two');
    await store.clock.advance(6 * MINUTE);
    await store.attempts(5);
    expect(told).toBe(2);
  });

  it('keeps what was accepted when the next text is refused, which is pending no more', async () => {
    const server = await httpServer(tagged('good'));
    const url = `${server.origin}/`;
    const store = await startStore();
    store.want({ [url]: {} });
    await store.attempts(1);
    store.contents.accept(store.contents.pending());
    for (const text of ['bad', 'worse']) {
      server.answer = tagged(text);
      await store.clock.advance(6 * MINUTE);
      await until(() => store.contents.pending().get(url) === text);
      store.contents.refuse(store.contents.pending(), new Error('no map line'));
      expect(store.contents.pending().size).toBe(0);
    }
    expect(await store.problem()).toBe(`${url}: refused: no map line`);
    server.answer = tagged('bad');
    await store.clock.advance(6 * MINUTE);
    await store.attempts(4);
    expect(store.contents.pending().size).toBe(0);
    expect([...store.contents.accepted()]).toEqual([[url, 'good']]);
    store.contents.reconsider();
    expect([...store.contents.pending()]).toEqual([[url, 'bad']]);
    store.contents.accept(store.contents.pending());
    expect(await store.problem()).toBeUndefined();
  });

  it('that says again what it said before, while its other text is judged, is not left with that', async () => {
    const server = await httpServer(tagged('one'));
    const url = `${server.origin}/`;
    const store = await startStore();
    store.want({ [url]: {} });
    await store.attempts(1);
    store.contents.accept(store.contents.pending());
    server.answer = tagged('two');
    await store.clock.advance(6 * MINUTE);
    await store.attempts(2);
    const judged = store.contents.pending();
    expect([...judged]).toEqual([[url, 'two']]);
    server.answer = tagged('one');
    await store.clock.advance(6 * MINUTE);
    await store.attempts(3);
    let told = 0;
    store.contents.onPending(() => told++);
    store.contents.accept(judged);
    expect(told).toBe(1);
    expect([...store.contents.pending()]).toEqual([[url, 'one']]);
    store.contents.accept(store.contents.pending());
    expect(told).toBe(1);
  });

  it('goes on while the server is down, with more and more patience, and says so once', async () => {
    const server = await httpServer(tagged('one'));
    const { port } = server;
    const url = `${server.origin}/a?token=secret`;
    await server.close();
    const store = await startStore();
    store.want({ [url]: {} });
    await store.attempts(1);
    expect(await store.problem()).toMatch(/\/a\?…: .*ECONNREFUSED.*; never accepted$/);
    for (const [attempts, delay] of [
      [2, 750],
      [3, 1_500],
      [4, 3_000],
    ] as const) {
      await store.clock.advance(delay);
      await store.attempts(attempts);
    }
    expect(store.log.records.filter(({ level }) => level === 'warn')).toHaveLength(1);
    await httpServer(tagged('one'), port);
    await store.clock.advance(6_000);
    await until(() => store.contents.pending().get(url) === 'one');
    expect(await store.problem()).toBeUndefined();
    expect(JSON.stringify(store.log.records)).not.toContain('secret');
    expect(results(store)).toMatchObject({ failed: 4, changed: 1 });
  });

  it('keeps its accepted text through failures', async () => {
    const server = await httpServer(tagged('one'));
    const url = `${server.origin}/`;
    const store = await startStore();
    store.want({ [url]: {} });
    await store.attempts(1);
    store.contents.accept(store.contents.pending());
    server.answer = plain('x', {}, 500);
    await store.clock.advance(6 * MINUTE);
    await store.attempts(2);
    expect([...store.contents.accepted()]).toEqual([[url, 'one']]);
    expect(store.contents.pending().size).toBe(0);
    expect(await store.problem()).toBe(`${url}: the server answered 500`);
  });

  it('that is forbidden is named, and not asked for again soon', async () => {
    const server = await httpServer(tagged('one'));
    const store = await startStore({ options: { allowHosts: [] } });
    store.want({ [`${server.origin}/`]: { critical: true } });
    await store.attempts(1);
    expect(await store.problem()).toContain('allowHosts');
    expect(await store.problem()).toContain('critical, never accepted');
    await store.clock.advance(4 * MINUTE);
    expect(results(store)).toEqual({ forbidden: 1 });
    expect(server.requests).toEqual([]);
  });

  it('is left alone when nobody wants it, and its text is there when somebody does again', async () => {
    const server = await httpServer(tagged('one'));
    const url = `${server.origin}/`;
    const store = await startStore();
    store.want({ [url]: {} });
    await store.attempts(1);
    store.contents.accept(store.contents.pending());
    store.want({});
    await until(() => store.clock.sleepers === 0);
    expect([...store.contents.accepted()]).toEqual([[url, 'one']]);
    const { length } = server.requests;
    await store.clock.advance(60 * MINUTE);
    expect(server.requests).toHaveLength(length);
    store.want({ [url]: {} });
    await until(() => server.requests.length > length);
  });

  it('is judged when somebody wants it again, where that was still to be done', async () => {
    const server = await httpServer(tagged('one'));
    const url = `${server.origin}/`;
    const store = await startStore();
    store.want({ [url]: {} });
    await store.attempts(1);
    store.contents.accept(store.contents.pending());
    server.answer = tagged('two');
    await store.clock.advance(6 * MINUTE);
    await store.attempts(2);
    store.want({});
    let told = 0;
    store.contents.onPending(() => told++);
    store.want({ [url]: {} });
    await store.attempts(3);
    expect(told).toBe(1);
    expect([...store.contents.pending()]).toEqual([[url, 'two']]);
  });

  it('begins anew with other options, and keeps its text', async () => {
    const server = await httpServer(tagged('one'));
    const url = `${server.origin}/`;
    const store = await startStore();
    store.want({ [url]: {} });
    await store.attempts(1);
    store.contents.accept(store.contents.pending());
    store.want({ [url]: { interval: '10s' } });
    await store.attempts(2);
    await until(() => store.clock.sleepers === 1);
    expect([...store.contents.accepted()]).toEqual([[url, 'one']]);
    await store.clock.advance(10_000);
    await store.attempts(3);
  });

  it('does not hold up another one', async () => {
    const slow = await httpServer(() => {});
    const quick = await httpServer(tagged('two'));
    const store = await startStore();
    store.want({ [`${slow.origin}/`]: {}, [`${quick.origin}/`]: {} });
    await until(() => store.contents.pending().get(`${quick.origin}/`) === 'two');
    const stop = new AbortController();
    const attempted = store.contents.attempted([`${slow.origin}/`], stop.signal);
    stop.abort();
    await attempted;
    await store.contents.attempted([`${quick.origin}/`], new AbortController().signal);
  });

  it('is called off in the middle when the host stops', async () => {
    const server = await httpServer(() => {});
    const store = await startStore();
    store.want({ [`${server.origin}/`]: {} });
    await until(() => server.requests.length === 1);
    await store.close();
    expect(store.clock.sleepers).toBe(0);
  });
});

describe('after a restart', () => {
  it('what was accepted is there before the server is', async () => {
    const server = await httpServer(tagged('one'));
    const url = `${server.origin}/list?token=secret`;
    const state = memoryState();
    const first = await startStore({ state });
    first.want({ [url]: {} });
    await first.attempts(1);
    first.contents.accept(first.contents.pending());
    await first.close();
    await server.close();
    expect(JSON.stringify([...state.documents])).not.toContain('secret');
    const second = await startStore({ state });
    expect(second.contents.accepted().size).toBe(0);
    second.want({ [url]: {} });
    expect([...second.contents.accepted()]).toEqual([[url, 'one']]);
    await second.contents.attempted([url], new AbortController().signal);
  });

  it.each(['garbage', '{"version":2}', '{"version":1,"texts":{"a":1}}'])(
    'a document that reads %s is no obstacle',
    async (text) => {
      const store = await startStore({ state: memoryState(new Map([['http-contents', text]])) });
      expect(store.log.records.map(({ message }) => message)).toContain(
        'the contents of the last run can not be read',
      );
    },
  );

  it('large contents are fetched anew', async () => {
    const [small, large] = [await httpServer(tagged('small')), await httpServer(plain('x'.repeat(300_000)))];
    const state = memoryState();
    const store = await startStore({ state });
    store.want({ [`${large.origin}/`]: {}, [`${small.origin}/`]: {} });
    await store.attempts(2);
    await until(() => store.contents.pending().size === 2);
    store.contents.accept(store.contents.pending());
    await store.close();
    const document = state.documents.get('http-contents')!;
    expect(document).toContain('small');
    expect(document.length).toBeLessThan(1_000);
  });
});
