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

function note(references: SecretReferences, watch: string, object: KubeObject): boolean {
  return references.update(watch, object.metadata, object, [interest]);
}

test('Secrets are named as long as somebody names them', () => {
  const references = new SecretReferences();
  expect(note(references, 'maps', naming('a', 'x')), 'news').toBe(true);
  expect([...references.names()]).toEqual(['n/x']);
  expect(note(references, 'maps', naming('b', 'x')), 'no news').toBe(false);
  expect(note(references, 'maps', naming('b', 'x')), 'no news').toBe(false);
  const gone = (name: string): boolean =>
    references.update('maps', { namespace: 'n', name }, undefined, [interest]);
  expect(gone('a'), 'still named by b').toBe(false);
  expect(references.has('n/x')).toBe(true);
  expect(gone('b'), 'news').toBe(true);
  expect([...references.names()]).toEqual([]);
});

test('what a complete list of a watch lacks names nothing any more, and other watches keep what they name', () => {
  const references = new SecretReferences();
  note(references, 'maps', naming('a', 'x'));
  note(references, 'others', naming('a', 'y'));
  references.forget('maps');
  expect([...references.names()]).toEqual(['n/y']);
});
