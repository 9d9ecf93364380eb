import type { KubeObject } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { isAsAccepted } from './as-accepted.ts';

const accepted: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name: 'web', uid: 'u', resourceVersion: '1', generation: 1 },
  spec: { ingressClassName: 'haptic' },
};
const ignored = [
  ['spec', 'tls'],
  ['metadata', 'annotations', 'example.test/last-applied'],
];

const live = (change: { metadata?: object; spec?: object; status?: object }): KubeObject => ({
  ...accepted,
  status: change.status,
  metadata: { ...accepted.metadata, ...change.metadata },
  spec: { ...(accepted['spec'] as object), ...change.spec },
});

test.each([
  ['a generation', { metadata: { generation: 2, resourceVersion: '7', managedFields: [] } }],
  ['an ignored part of the spec', { spec: { tls: [] }, metadata: { generation: 2 } }],
  ['an ignored annotation', { metadata: { annotations: { 'example.test/last-applied': 'x' } } }],
  ['a status', { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }],
])('%s makes no other object of it', (_, change) => {
  expect(isAsAccepted(live(change), accepted, ignored)).toBe(true);
});

test.each([
  ['created anew', { metadata: { uid: 'v' } }],
  ['of another class', { spec: { ingressClassName: 'nginx' } }],
  ['annotated', { metadata: { annotations: { 'kubernetes.io/ingress.class': 'nginx' } } }],
])('one that was %s is another one', (_, change) => {
  expect(isAsAccepted(live(change), accepted, ignored)).toBe(false);
});
