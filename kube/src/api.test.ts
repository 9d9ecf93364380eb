import { Cancelled, Retry } from '@haptic/core/contract';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { KubeApi } from './api.ts';
import { loadKubeConfig } from './config.ts';
import { reset, ScriptedApi, sends, status } from './testing/scripted-api.ts';

const path = '/api/v1/configmaps';

test('a body goes as JSON, and the answer comes as it is', async () => {
  const server = await ScriptedApi.start();
  server.next(sends(201, { some: 'answer', created: '2030-01-01T00:00:00Z', unknown: { field: [1] } }));
  const answer = await server.client().json({
    method: 'POST',
    path,
    query: { fieldManager: 'a b', left: undefined },
    body: { x: 'ü' },
  });
  expect(answer).toEqual({ some: 'answer', created: '2030-01-01T00:00:00Z', unknown: { field: [1] } });
  expect(server.calls[0]).toMatchObject({
    method: 'POST',
    path,
    query: { fieldManager: 'a b' },
    body: { x: 'ü' },
  });
  expect(server.calls[0]?.query).not.toHaveProperty('left');
});

test('a refusal says what was asked and why it was refused', async () => {
  const server = await ScriptedApi.start();
  server.next(sends(409, status(409, 'Conflict')), sends(502, 'a page of a proxy'));
  const api = server.client();
  await expect(api.json({ path })).rejects.toMatchObject({
    code: 409,
    reason: 'Conflict',
    message: `GET ${path}: 409 Conflict: Conflict, says the test`,
  });
  await expect(api.json({ path })).rejects.toMatchObject({ code: 502 });
});

test('no answer, no whole answer and no connection are tried again by whoever asked', async () => {
  const server = await ScriptedApi.start();
  server.next(
    reset(),
    () => undefined,
    (response) => void response.writeHead(200).write('{"half":'),
  );
  const api = server.client();
  await expect(api.json({ path })).rejects.toThrow(Retry);
  await expect(api.json({ path, timeout: 50 })).rejects.toThrow('no answer in time');
  await expect(api.json({ path, timeout: 50 })).rejects.toThrow(Retry);
});

test('a call that is called off is cancelled, before and while it runs', async () => {
  const server = await ScriptedApi.start();
  server.otherwise(() => undefined);
  const api = server.client();
  await expect(api.json({ path, signal: AbortSignal.abort() })).rejects.toThrow(Cancelled);
  await expect(api.json({ path, signal: AbortSignal.timeout(20) })).rejects.toThrow(Cancelled);
});

test('the time of a stream ends with its head, and destroying it ends the request', async () => {
  const server = await ScriptedApi.start();
  const closed = Promise.withResolvers<void>();
  server.next((response) => {
    response.on('close', closed.resolve);
    response.writeHead(200).flushHeaders();
    setTimeout(() => response.write('late'), 100);
  });
  const body = await server.client().stream({ path, timeout: 50 });
  const [first] = await body.take(1).toArray();
  expect(String(first)).toBe('late');
  body.destroy();
  await closed.promise;
});

test('one pool of connections serves all requests', async () => {
  const server = await ScriptedApi.start();
  const sockets = new Set<unknown>();
  server.otherwise((response) => {
    sockets.add(response.socket);
    response.writeHead(200).end('{}');
  });
  const api = server.client();
  for (let request = 0; request < 20; request++) await api.json({ path });
  expect(sockets.size).toBeLessThan(3);
});

test('closing ends also what runs on certificates that have been renewed since', async () => {
  const server = await ScriptedApi.start();
  server.next((response) => response.writeHead(200).flushHeaders(), sends(200, {}));
  const folder = await mkdtemp(join(tmpdir(), 'haptic-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const ca = join(folder, 'ca.crt');
  await writeFile(ca, 'one');
  const api = new KubeApi(server.kubeConfig({ 'certificate-authority': ca }));
  const body = await api.stream({ path });
  await writeFile(ca, 'two');
  await api.json({ path });
  const ended = expect(body.toArray()).rejects.toThrow();
  await api.close();
  await ended;
  await expect(api.json({ path })).rejects.toThrow(Cancelled);
});

test('a configuration that cannot be used says where it is from and what it has', () => {
  expect(() => loadKubeConfig({ file: '/nonexistent/kubeconfig' })).toThrow(
    'kubeconfig from /nonexistent/kubeconfig',
  );
  const text = JSON.stringify({
    'current-context': 'one',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    contexts: [{ name: 'one', context: { cluster: 'c', user: 'u' } }],
    users: [],
  });
  expect(() => loadKubeConfig({ text, context: 'two' })).toThrow('has no context "two", only one');
  vi.stubEnv('KUBECONFIG', '/nonexistent/config');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(() => loadKubeConfig()).toThrow('kubeconfig from the environment: there is no /nonexistent/config');
  expect(() => loadKubeConfig({ text: '{' })).toThrow('kubeconfig from the given text');
});
