import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { expect, test } from 'vitest';
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
  server.otherwise((response, call) => {
    if (call.path === '/api') return sends(200, { items: [] }, { etag: '"core"' })(response, call);
    return sends(code, { items: groups }, { etag: '"groups"' })(response, call);
  });
  return {
    server,
    subject,
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
