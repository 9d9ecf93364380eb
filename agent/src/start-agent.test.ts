import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { API_VERSION, Refused, type PluginDefinition } from '@haptic/core/contract';
import { memoryLog } from '@haptic/core/testing';
import { digestOf } from './files/tree.ts';
import type { AgentHooks } from './hooks.ts';
import type { AgentService } from './services.ts';
import {
  applyRequestSchema,
  LIMITS,
  stateQuerySchema,
  type ApplyAnswer,
  type ApplyRequest,
} from './protocol/index.ts';
import type { ListenAddress } from './api/listen.ts';
import { runAgent } from './run-agent.ts';
import { startAgent } from './start-agent.ts';
import type { Step } from './steps.ts';

interface Started {
  readonly service: AgentService;
  readonly baseDir: string;
}

function ownFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-agent-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

/** An agent whose HAProxy is not there. */
async function started(
  plugin?: Pick<PluginDefinition<z.ZodType, AgentHooks>, 'setup'>,
  onStep: (step: Step, baseDir: string) => void = () => {},
): Promise<Started> {
  const dir = ownFolder();
  const baseDir = join(dir, 'base');
  const definition = {
    name: 'own',
    apiVersion: API_VERSION,
    options: z.strictObject({}),
    ...plugin,
  } as const;
  const agent = await startAgent({
    baseDir,
    socketDir: dir,
    version: '1',
    plugins: plugin === undefined ? [] : [{ plugin: definition as PluginDefinition<z.ZodType, AgentHooks> }],
    log: memoryLog(),
    reloadTimeout: 60,
    onStep: (step) => onStep(step, baseDir),
  });
  onTestFinished(() => agent[Symbol.asyncDispose]());
  return { service: agent.service, baseDir };
}

function requestOf(text: string, change: Partial<ApplyRequest> = {}): ApplyRequest {
  const content = Buffer.from(text);
  const digest = digestOf(content);
  const file = { path: 'haproxy.cfg', digest, size: content.length, kind: 'config', reloadOnChange: true };
  return applyRequestSchema.parse({
    planId: text,
    textId: '',
    token: { epoch: 1, seq: 1 },
    expect: null,
    mode: 'auto',
    files: [{ ...file, content: content.toString('base64') }],
    ...change,
  });
}

test('a plugin may refuse an apply before anything is written, and sees what became of it', async () => {
  const seen: ApplyAnswer[] = [];
  const { service, baseDir } = await started({
    setup({ hooks }) {
      hooks.verify.tapPromise('own', async (request) => {
        if (request.planId === 'bad') throw new Refused('not on a Friday');
      });
      hooks.applied.tap('own', (answer) => void seen.push(answer));
    },
  });
  const refused = await service.apply(requestOf('bad'));
  expect(refused).toMatchObject({ status: 200, body: { outcome: 'rejected', stage: 'verify' } });
  expect(JSON.stringify(refused.body)).toContain('not on a Friday');
  expect(readdirSync(baseDir)).toEqual(['trees']);
  expect(readdirSync(join(baseDir, 'trees'))).toEqual([]);
  expect((await service.apply(requestOf('good'))).body).toMatchObject({
    outcome: 'file_only',
    planId: 'good',
  });
  expect(seen.map(({ outcome }) => outcome)).toEqual(['rejected', 'file_only']);
});

test('without a HAProxy a reload has no verdict, and the former files are put back', async () => {
  const { service, baseDir } = await started();
  await service.apply(requestOf('one'));
  const next = { token: { epoch: 1, seq: 2 }, expect: 'one', mode: 'reload' };
  const { body } = await service.apply(requestOf('two', next));
  expect(body).toMatchObject({ outcome: 'rejected', stage: 'no_verdict', rolledBack: true, planId: 'one' });
  expect(JSON.stringify(body)).toContain('no verdict from HAProxy');
  expect(readFileSync(join(baseDir, 'current', 'haproxy.cfg'), 'utf8')).toBe('one');
  const state = await service.state(stateQuerySchema.parse({}), AbortSignal.timeout(5_000));
  expect(state).toMatchObject({
    haproxyVersion: null,
    worker: null,
    inStep: false,
    lkg: null,
    generation: 1,
  });
});

/** From now on no link can take its place. */
function block(path: string): void {
  rmSync(path, { force: true });
  mkdirSync(join(path, 'in the way'), { recursive: true });
}

test('former files that cannot be put back are said not to be, and why they were to go is not lost', async () => {
  const { service, baseDir } = await started(undefined, (step, base) => {
    if (step === 'refused') block(join(base, 'current'));
  });
  await service.apply(requestOf('one'));
  const next = { token: { epoch: 1, seq: 2 }, expect: 'one', mode: 'reload' };
  const { body } = await service.apply(requestOf('two', next));
  expect(body).toMatchObject({ outcome: 'rejected', stage: 'no_verdict', rolledBack: false });
  expect(JSON.stringify(body)).toContain('no verdict from HAProxy');
  expect(readdirSync(join(baseDir, 'current'))).toEqual(['in the way']);
});

test('files in place are no rejection where only the note of the last known good cannot be made', async () => {
  const { service, baseDir } = await started();
  block(join(baseDir, 'lkg'));
  const one = await service.apply(requestOf('one', { validated: 'one' }));
  expect(one.body).toMatchObject({ outcome: 'file_only', planId: 'one', generation: 1 });
  expect(readFileSync(join(baseDir, 'current', 'haproxy.cfg'), 'utf8')).toBe('one');
  // Who wants nothing else than the note is told.
  const late = { token: { epoch: 1, seq: 2 }, expect: 'one', validated: 'one' };
  expect((await service.apply(requestOf('one', late))).body).toMatchObject({
    outcome: 'rejected',
    stage: 'stage',
  });
});

test('a patch that would make more than a message may hold is asked for as a whole', async () => {
  const { service } = await started();
  const one = requestOf('one');
  await service.apply(one);
  const [{ content: _, ...file }] = one.files as [ApplyRequest['files'][number]];
  const patch = { from: file.digest, parts: [[0, 3]] as [number, number][] };
  const next = { token: { epoch: 1, seq: 2 }, expect: 'one' };
  for (const size of [LIMITS.body + 1, Number.MAX_SAFE_INTEGER]) {
    const files = [{ ...file, digest: digestOf(Buffer.from('x')), size, patch }];
    expect(await service.apply(requestOf('two', { ...next, files }))).toMatchObject({
      status: 409,
      body: { reason: 'missing', paths: ['haproxy.cfg'] },
    });
  }
});

test('applies that come at the same time are done one after the other, and the fence decides', async () => {
  const { service } = await started();
  const seqs = [1, 2, 3, 4, 5];
  const replies = await Promise.all(
    seqs.map((seq) => service.apply(requestOf(`v${seq}`, { token: { epoch: 1, seq } }))),
  );
  // Each expects no files; only the first finds none.
  expect(replies.map(({ status }) => status)).toEqual([200, 409, 409, 409, 409]);
});

test('an epoch that nobody can have reached is a broken message', () => {
  const tokenOf = (epoch: number) =>
    applyRequestSchema.safeParse({ ...requestOf('x'), token: { epoch, seq: 1 } }).error?.issues;
  expect(tokenOf(LIMITS.epoch)).toBeUndefined();
  expect(tokenOf(LIMITS.epoch + 1)).toMatchObject([
    { path: ['token', 'epoch'], message: 'expected an epoch of at most 1099511627776' },
  ]);
});

test('a second one on the same folder is refused, and the first one goes on', async () => {
  const { service, baseDir } = await started();
  const options = { baseDir, socketDir: baseDir, version: '1', plugins: [], log: memoryLog() };
  await expect(startAgent(options)).rejects.toThrow(`${baseDir}: another haptic agent is running`);
  expect((await service.apply(requestOf('one'))).body).toMatchObject({ outcome: 'file_only' });
});

test('a base folder that is a file is named', async () => {
  const { baseDir } = await started();
  const file = join(baseDir, 'file');
  writeFileSync(file, '');
  const options = { baseDir: file, socketDir: baseDir, version: '1', plugins: [], log: memoryLog() };
  await expect(startAgent(options)).rejects.toThrow(
    `${file}: is a file or lies below one, expected a folder`,
  );
  await expect(startAgent(options)).rejects.toBeInstanceOf(Refused);
});

test('is never served without a token, nor to other machines', async () => {
  const baseDir = ownFolder();
  const options = {
    baseDir,
    socketDir: baseDir,
    version: '1',
    log: memoryLog(),
    signal: AbortSignal.timeout(5_000),
  };
  const listen = { host: '127.0.0.1', port: 0 };
  await expect(runAgent({ ...options, listen, token: { value: 'short' } })).rejects.toThrow('at least 16');
  await expect(runAgent({ ...options, listen, token: { file: '/nonexistent' } })).rejects.toThrow(
    'cannot read',
  );
  const everywhere = { host: '0.0.0.0', port: 0 };
  await expect(
    runAgent({ ...options, listen: everywhere, token: { value: 'x'.repeat(32) } }),
  ).rejects.toThrow('not a loopback address');
});

test('a token that cannot be read serves nobody, and nobody is told where it is', async () => {
  const baseDir = ownFolder();
  const file = join(baseDir, 'token');
  writeFileSync(file, 'x'.repeat(32));
  const stop = new AbortController();
  const log = memoryLog();
  const { promise: bound, resolve: onListening } = Promise.withResolvers<ListenAddress>();
  const listen = { host: '127.0.0.1', port: 0 };
  const options = { baseDir, socketDir: baseDir, version: '1', log, listen, token: { file }, onListening };
  const running = runAgent({ ...options, signal: stop.signal });
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const { port } = z.object({ port: z.int() }).parse(await bound);
  const call = () =>
    fetch(`http://127.0.0.1:${port}/v1/state`, { headers: { authorization: `Bearer ${'x'.repeat(32)}` } });
  expect((await call()).status).toBe(200);
  rmSync(file);
  const answer = await call();
  expect(answer.status).toBe(503);
  expect(await answer.text()).not.toContain(file);
  expect(JSON.stringify(log.records)).toContain('cannot tell who calls');
});
