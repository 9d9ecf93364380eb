import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { RenderPlan } from '@haptic/core/contract';
import type { StoredPlan } from '@haptic/agent/protocol';
import { PlanChunks } from './plan-chunks.ts';
import { readStoredPlan } from './plan-schema.ts';

const digest = 'a'.repeat(64);
const object = { apiVersion: 'v1', kind: 'Service', namespace: 'n', name: 's', uid: 'u' };

/** Something in every part. */
const plan: RenderPlan = {
  schema: 1,
  id: digest,
  releaseId: digest,
  textId: digest,
  sections: [
    {
      kind: 'core',
      name: 'global',
      digest,
      length: 3,
      provenance: { snippet: 'main', source: 'base', line: 1, objects: [object] },
      secret: true,
    },
  ],
  profiles: { 'be-1': { digest, base: 'http' } },
  backends: {
    b: {
      profile: 'be-1',
      mode: 'http',
      guid: 'be:b',
      shape: 'static',
      shapeReason: 'why',
      servers: [
        {
          name: 'p',
          address: '10.0.0.1',
          port: 80,
          weight: 1,
          state: 'ready',
          keywords: ['check'],
          guid: 'srv:b:p',
        },
      ],
      digest,
    },
  },
  maps: { 'maps/host.map': { match: 'str', layer: 'host', secret: false, entries: [['k', 'v']], digest } },
  crtLists: { l: { lines: [{ certificate: 'c', options: '', sni: ['a.test'] }], digest } },
  certificates: { c: { digest } },
  caFiles: { a: { digest } },
  binds: [{ address: ':80' }],
  files: [{ path: 'haproxy.cfg', kind: 'config', digest, size: 3, reloadOnChange: true, secret: false }],
  k8sResources: [{ kind: 'ConfigMap', data: { a: ['b', null] } }],
  statuses: [{}],
  events: [{ object, reason: 'R', message: 'm' }],
};

function stored(value: unknown): StoredPlan {
  const chunks = new PlanChunks().of(value as RenderPlan);
  return {
    chunks: chunks.map((chunk) => chunk.digest),
    data: Object.fromEntries(chunks.map((chunk) => [chunk.digest, chunk.bytes.toString('base64')])),
  };
}

const single = (bytes: Buffer): StoredPlan => ({ chunks: ['x'], data: { x: bytes.toString('base64') } });

test('a stored plan comes back as it was', () => {
  expect(readStoredPlan(stored(plan), digest)).toEqual(plan);
});

test.each([
  ['nothing', { chunks: [], data: {} }],
  ['a part that is not there', { ...stored(plan), data: {} }],
  ['no gzip', single(Buffer.from('{}'))],
  ['no JSON', single(gzipSync('{'))],
  ['another schema', stored({ ...plan, schema: 2 })],
  ['another plan', stored({ ...plan, id: 'b'.repeat(64) })],
  ['a bent part', stored({ ...plan, files: [{ ...plan.files[0], size: '3' }] })],
  ['a bomb', single(gzipSync(Buffer.alloc(65 * 1024 * 1024)))],
])('%s is no baseline', (_name, text) => {
  expect(readStoredPlan(text, digest)).toBeUndefined();
});
