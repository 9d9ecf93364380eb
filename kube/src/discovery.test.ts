import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { expect, test, vi } from 'vitest';
import { Discovery } from './discovery.ts';
import { ScriptedApi, sends } from './testing/scripted-api.ts';

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
