import { Refused } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { declaredResource } from './declared-resources.ts';

const config = { namespace: 'haptic', name: 'main', uid: 'u', generation: 1 };
const discovery = {
  findKind: (apiVersion: string, kind: string) =>
    kind === 'Thing'
      ? undefined
      : { apiVersion, kind, resource: `${kind.toLowerCase()}s`, namespaced: kind !== 'Node' },
};

test('an object is ours by its label, and goes with its config where it can', () => {
  const labels = { 'haproxy-haptic.org/managed-by': 'somebody', app: 'x' };
  const own = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', labels }, spec: { x: 1 } };
  expect(declaredResource(own, config, discovery)).toEqual({
    place: { apiVersion: 'v1', kind: 'Service', resource: 'services', namespace: 'haptic', name: 'a' },
    fields: {
      ...own,
      metadata: {
        name: 'a',
        labels: { 'haproxy-haptic.org/managed-by': 'haptic.main', app: 'x' },
        ownerReferences: [
          {
            apiVersion: 'haproxy-haptic.org/v1alpha1',
            kind: 'HAProxyTemplateConfig',
            name: 'main',
            uid: 'u',
          },
        ],
      },
    },
    isOwned: true,
  });
  const elsewhere = { ...own, metadata: { name: 'a', namespace: 'other' } };
  expect(declaredResource(elsewhere, config, discovery).fields).not.toHaveProperty(
    'metadata.ownerReferences',
  );
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', namespace: 'ignored' } };
  expect(declaredResource(node, config, discovery).place.namespace).toBe('');
});

test.each([
  [{ kind: 'Service', metadata: { name: 'a' } }, 'no object'],
  [
    { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' } },
    'v1 Thing a: the cluster does not serve this kind',
  ],
])('%j is refused', (declared, words) => {
  expect(() => declaredResource(declared, config, discovery)).toThrow(Refused);
  expect(() => declaredResource(declared, config, discovery)).toThrow(words);
});
