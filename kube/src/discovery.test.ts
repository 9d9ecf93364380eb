import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Discovery } from './discovery.ts';
import { ScriptedApi, sends, status } from './testing/scripted-api.ts';

function group(name: string, version: string, resources: readonly string[], freshness = 'Current'): object {
  return {
    metadata: { name },
    versions: [
      {
        version,
        freshness,
        resources: resources.map((resource) => ({
          resource,
          responseKind: { group: name, version, kind: resource.slice(0, -1) },
          scope: 'Namespaced',
          verbs: ['get', 'list', 'watch'],
        })),
      },
    ],
  };
}

async function discovery() {
  const server = await ScriptedApi.start();
  const subject = new Discovery({ api: server.client(), clock: systemClock, log: memoryLog() });
  let groups: readonly object[] = [];
  let code = 200;
  const core = { code: 200 };
  server.otherwise((response, call) => {
    if (call.path === '/api') return sends(core.code, { items: [] }, { etag: '"core"' })(response, call);
    return sends(code, { items: groups }, { etag: '"groups"' })(response, call);
  });
  return {
    server,
    subject,
    core,
    serve: (next: readonly object[], status = 200): void => {
      groups = next;
      code = status;
    },
  };
}

test('an unchanged answer is no change, and costs a 304', async () => {
  const { server, subject, serve } = await discovery();
  serve([group('a.example', 'v1', ['things'])]);
  expect(await subject.refresh()).toBe(true);
  expect(await subject.refresh()).toBe(false);
  expect(server.calls.at(-1)?.headers).toMatchObject({ 'if-none-match': '"groups"' });
  serve([], 304);
  expect(await subject.refresh()).toBe(false);
  expect(subject.find(['a.example/v1'], 'things')).toMatchObject({ kind: 'thing' });
});

test('what half of a failed refresh found out is told by the next one', async () => {
  const { subject, core, serve } = await discovery();
  await subject.refresh();
  serve([group('a.example', 'v1', ['things'])]);
  core.code = 500;
  await expect(subject.refresh()).rejects.toThrow('/api');
  await vi.waitFor(() => expect(subject.find(['a.example/v1'], 'things')).toBeDefined());
  core.code = 200;
  expect(await subject.refresh()).toBe(true);
  expect(await subject.refresh()).toBe(false);
});

test('a group whose own server does not answer is unavailable, not gone', async () => {
  const { subject, serve } = await discovery();
  serve([group('a.example', 'v1', ['things'])]);
  await subject.refresh();
  serve([group('a.example', 'v1', [], 'Stale')]);
  expect(await subject.refresh()).toBe(false);
  expect(subject.find(['a.example/v1'], 'things')).toBeDefined();
  serve([]);
  expect(await subject.refresh()).toBe(true);
  expect(subject.find(['a.example/v1'], 'things')).toBeUndefined();
});

/** Looks for ever, as fast as it can, until the test ends. */
async function followed() {
  const server = await ScriptedApi.start();
  const log = memoryLog();
  const subject = new Discovery({ api: server.client(), clock: systemClock, log, interval: 1 });
  const answers = (answer: object | number): void =>
    server.otherwise(typeof answer === 'number' ? sends(answer, status(answer, 'Away')) : sends(200, answer));
  const levels = (): readonly string[] => log.records.map(({ level }) => level);
  return {
    subject,
    log,
    answers,
    levels,
    follow: (changed: () => void = () => undefined): void => {
      const stop = new AbortController();
      const following = subject.follow(changed, stop.signal);
      onTestFinished(async () => {
        stop.abort();
        await following;
      });
    },
  };
}

test('a server that is away at the start is waited for, in words', async () => {
  const { subject, log, answers, levels, follow } = await followed();
  answers(503);
  let changes = 0;
  let isKnown = false;
  void subject.known.then(() => (isKnown = true));
  follow(() => changes++);
  await vi.waitFor(() => expect(levels().length).toBeGreaterThan(2));
  expect(levels().filter((level) => level !== 'debug')).toEqual(['warn']);
  expect(log.records[0]?.message).toContain('before the API server says');
  expect(subject.problem).toContain('Away');
  expect([isKnown, changes]).toEqual([false, 0]);
  answers({ items: [group('a.example', 'v1', ['things'])] });
  await subject.known;
  await vi.waitFor(() => expect(changes).toBe(1));
  expect(levels().filter((level) => level !== 'debug')).toEqual(['warn', 'info']);
  expect(subject.problem).toBeUndefined();
  expect(subject.find(['a.example/v1'], 'things')).toBeDefined();
});

test('an answer that is not understood is complained of from the second on, and changes nothing', async () => {
  const { subject, log, answers, levels, follow } = await followed();
  answers({ items: [group('a.example', 'v1', ['things'])] });
  await subject.refresh();
  answers({ kind: 'APIGroupList', groups: [] });
  follow();
  await vi.waitFor(() => expect(levels()).toContain('warn'));
  expect(levels().slice(0, 2)).toEqual(['debug', 'warn']);
  expect(String(log.records[1]?.fields['error'])).toMatch(
    /GET \/apis?: expected an APIGroupDiscoveryList[^]*items/,
  );
  expect(subject.find(['a.example/v1'], 'things')).toBeDefined();
});

test('a listener that fails is a fault of ours', async () => {
  const { answers, levels, follow } = await followed();
  answers({ items: [group('a.example', 'v1', ['things'])] });
  follow(() => {
    throw new TypeError('broken');
  });
  await vi.waitFor(() => expect(levels()).toContain('error'));
});
