import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startAgent, type RunningAgent } from '@haptic/agent';
import {
  applyAnswerSchema,
  applyRequestSchema,
  conflictSchema,
  errorAnswerSchema,
  fileSetDigest,
  operationSchema,
  PROTOCOL_VERSION,
  stateQuerySchema,
  stateSchema,
  sumOf,
  type ApplyMessage,
} from '@haptic/agent/protocol';
import { OPERATION_NAMES } from '@haptic/core/contract';
import { memoryLog } from '@haptic/core/testing';
import { applyMessage, revertMessage } from '../../plugins/deploy-agent/src/apply-message.ts';
import { PlanChunks } from '../../plugins/deploy-agent/src/plan-chunks.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { renderedOf } from './rendered.ts';

/**
 * Messages of each protocol and its schemas as they were: what fails here breaks a pod whose two sides are not replaced at the
 * same moment. The files are never written anew; another protocol gets a folder of its own.
 */
const PROTOCOLS = [1, 2];

const objects = z.array(z.record(z.string(), z.unknown()));

function frozen(protocol: number) {
  const read = (name: string): unknown =>
    JSON.parse(
      readFileSync(new URL(`../data/agent-protocol-${protocol}/${name}.json`, import.meta.url), 'utf8'),
    );
  /** What the other side takes. */
  const schemas = z.record(z.string(), z.custom<z.core.JSONSchema.JSONSchema>()).parse(read('schemas'));
  return {
    samples: (name: string) => objects.parse(read(name)),
    apply: (name: string) => z.record(z.string(), z.unknown()).parse(read(`apply-${name}`)),
    released: (name: string) => z.fromJSONSchema(schemas[name] ?? expect.fail(`no schema ${name}`)),
  };
}

test('there is a folder for the protocol of now', () => {
  expect(PROTOCOLS.at(-1)).toBe(PROTOCOL_VERSION);
});

async function agent(): Promise<RunningAgent> {
  const dir = await tempDir();
  const options = { baseDir: join(dir, 'base'), socketDir: dir, version: '1', plugins: [], log: memoryLog() };
  const running = await startAgent({ ...options, reloadTimeout: 60 });
  onCleanup(async () => await running[Symbol.asyncDispose]());
  return running;
}

const state = ({ service }: RunningAgent) =>
  service.state(stateQuerySchema.parse({}), AbortSignal.timeout(30_000));

describe.each(PROTOCOLS)('protocol %s', (protocol) => {
  const { samples, apply, released } = frozen(protocol);

  test.each([
    ['answers', applyAnswerSchema],
    ['conflicts', conflictSchema],
    ['errors', errorAnswerSchema],
    ['states', stateSchema],
  ])('every part of old %s is understood', (name, schema) => {
    for (const sample of samples(name)) {
      expect(schema.parse(sample)).toEqual(sample);
      expect(schema.parse({ ...sample, unheardOf: { of: 1 } })).toEqual(sample);
    }
  });

  test.each(['full', 'delta', 'revert'])('every part of an old apply is understood: %s', (name) => {
    const sample = apply(name);
    const request = applyRequestSchema.parse({ ...sample, unheardOf: [1] });
    expect(request).toMatchObject(sample);
    expect(request).not.toHaveProperty('unheardOf');
  });

  test('every operation of before is understood, fields of later ones are ignored', () => {
    const { ops, inPlaceOps } = applyRequestSchema.parse(apply('delta'));
    for (const op of [...ops, ...inPlaceOps]) {
      expect(operationSchema.parse({ ...op, unheardOf: true })).toEqual(op);
    }
    const names = new Set([...ops, ...inPlaceOps].map(({ op }) => op));
    expect([...names].toSorted()).toEqual([...OPERATION_NAMES].toSorted());
  });

  test('old applies are done', async () => {
    const running = await agent();
    const full = applyRequestSchema.parse({ ...apply('full'), mode: 'auto' });
    expect(await running.service.apply(full)).toMatchObject({ status: 200, body: { outcome: 'file_only' } });
    // Without its operations: nothing runs here that could do them. The digest of the set is proved.
    const delta = applyRequestSchema.parse({ ...apply('delta'), ops: [], inPlaceOps: [] });
    expect(await running.service.apply(delta)).toMatchObject({
      status: 200,
      body: { outcome: 'file_only', skew: [] },
    });
    const { files } = await state(running);
    expect(Object.keys(files ?? {})).not.toContain('pages/503.http');
    expect(fileSetDigest(sumOf([]))).toBe('0'.repeat(64));
  });

  test('an agent of before takes what is sent now', () => {
    const chunks = new PlanChunks();
    const before = renderedOf({ 'haproxy.cfg': 'global\n', 'maps/a.map': 'a 1\n'.repeat(2_000) });
    const rendered = renderedOf({ 'haproxy.cfg': 'global\n', 'maps/a.map': 'a 1\n'.repeat(2_001) }, [
      '127.0.0.1:80',
    ]);
    const { ops, inPlaceOps } = applyRequestSchema.parse(apply('delta'));
    const changes = z.object({ ops: z.array(operationSchema), inPlaceOps: z.array(operationSchema) });
    const token = { epoch: 1, seq: 1 };
    const common = { rendered, protocol, token, chunks, validated: true, lacksChunk: () => true };
    const messages: ApplyMessage[] = [
      applyMessage({
        ...common,
        expect: null,
        mode: 'reload',
        changes: undefined,
        lacks: () => true,
        before: undefined,
      }),
      applyMessage({
        ...common,
        expect: before.plan.id,
        mode: 'auto',
        changes: changes.parse({ ops, inPlaceOps }),
        lacks: ({ path }) => path === 'maps/a.map',
        before,
      }),
      revertMessage(rendered.plan.id, token),
    ];
    expect(messages[1]).toMatchObject({ delta: { removed: [] }, files: [{ patch: {} }] });
    for (const message of messages) {
      const sent: unknown = JSON.parse(JSON.stringify(message));
      expect(released('apply').safeParse(sent).error).toBeUndefined();
      expect(JSON.stringify(message).includes('"text":')).toBe(protocol > 1 && message === messages[0]);
      for (const op of [...(message.ops ?? []), ...(message.inPlaceOps ?? [])])
        expect(released('operation').safeParse(op).error).toBeUndefined();
    }
  });

  test('a controller of before takes what is answered now', async () => {
    const running = await agent();
    const takes = (name: string, body: unknown): void =>
      expect(released(name).safeParse(JSON.parse(JSON.stringify(body))).error).toBeUndefined();
    takes('state', await state(running));
    const full = applyRequestSchema.parse({ ...apply('full'), mode: 'auto' });
    const bare = { ...full, files: full.files.map((file) => ({ ...file, content: undefined })) };
    const cases: [name: string, status: number, request: typeof full][] = [
      ['conflict', 409, { ...full, expect: 'other' }],
      ['conflict', 409, bare],
      ['error', 422, { ...full, files: [...full.files, ...full.files] }],
      ['answer', 200, full],
      ['answer', 200, { ...full, mode: 'reload', expect: full.planId, token: { epoch: 3, seq: 2 } }],
    ];
    for (const [name, status, request] of cases) {
      const reply = await running.service.apply(request);
      expect(reply.status).toBe(status);
      takes(name, reply.body);
    }
    takes('state', await state(running));
  });
});

test.each([
  ['op map.turn', { ops: [{ op: 'map.turn', map: 'maps/hosts.map' }] }],
  ['mode sideways', { mode: 'sideways' }],
  ['file kind sidecar', { kind: 'sidecar' }],
])('what an agent does not know makes it load everything, and it says so: %s', async (skew, change) => {
  const running = await agent();
  const full = applyRequestSchema.parse({ ...frozen(PROTOCOL_VERSION).apply('full'), mode: 'auto' });
  const { kind = 'file', ...fields } = { kind: undefined, ...change };
  const files = full.files.map((file) => (file.kind === 'file' ? { ...file, kind } : file));
  // Nothing runs here, so the reload has no verdict; without one nothing would have been loaded.
  expect(await running.service.apply(applyRequestSchema.parse({ ...full, files, ...fields }))).toMatchObject({
    status: 200,
    body: { outcome: 'rejected', rolledBack: true, skew: [skew] },
  });
});
