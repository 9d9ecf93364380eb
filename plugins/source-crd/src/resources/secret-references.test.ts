import type { KubeObject, ObjectInterest } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { SecretReferences } from './secret-references.ts';

const interest: ObjectInterest = {
  apiVersion: 'v1',
  resources: 'configmaps',
  secrets: ({ data }) =>
    Object.values(data as Record<string, string>).map((name) => ({ namespace: 'n', name })),
};

const naming = (name: string, secret: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'n', name },
  data: { secret },
});

const secret = (name: string, type = 'Opaque'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'n', name },
  type,
});

function note(references: SecretReferences, watch: string, object: KubeObject): boolean {
  return references.update(watch, object.metadata, object, [interest]);
}

test('Secrets are kept by type, and as long as somebody names them', () => {
  const references = new SecretReferences();
  expect(references.filter().keep(secret('x'))).toBe(false);
  expect(references.filter().keep(secret('x', 'kubernetes.io/tls'))).toBe(true);
  expect(note(references, 'maps', naming('a', 'x')), 'news').toBe(true);
  expect(references.filter().keep(secret('x'))).toBe(true);
  expect(note(references, 'maps', naming('b', 'x')), 'no news').toBe(false);
  references.update('maps', { namespace: 'n', name: 'a' }, undefined, [interest]);
  expect(references.filter().keep(secret('x')), 'still named by b').toBe(true);
});

test('what a complete list of a watch lacks names nothing any more, and other watches keep what they name', () => {
  const references = new SecretReferences();
  note(references, 'maps', naming('a', 'x'));
  note(references, 'others', naming('a', 'y'));
  references.forget('maps');
  const filter = references.filter();
  expect(filter.keep(secret('x'))).toBe(false);
  expect(filter.keep(secret('y'))).toBe(true);
});
