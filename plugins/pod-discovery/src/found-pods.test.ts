import type { KubeObject } from '@haptic/core/contract';
import { describe, expect, test } from 'vitest';
import { foundPods } from './found-pods.ts';

interface Facts {
  readonly created?: string;
  readonly deleted?: string;
  readonly phase?: string;
  readonly ip?: string | null;
}

function pod(
  name: string,
  { created = '2026-01-01T00:00:00Z', deleted, phase = 'Running', ip = '10.0.0.1' }: Facts = {},
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'haptic',
      uid: `uid of ${name}`,
      creationTimestamp: created,
      ...(deleted !== undefined && { deletionTimestamp: deleted }),
    },
    status: { phase, ...(ip !== null && { podIP: ip }) },
  };
}

const names = (...pods: KubeObject[]): string[] => foundPods(pods).map(({ name }) => name);

describe('pods', () => {
  test('are found by their addresses, the oldest first', () => {
    const younger = pod('b', { created: '2026-01-02T00:00:00Z', ip: 'fd00::1' });
    expect(foundPods([younger, pod('c', { ip: '10.0.0.2' }), pod('a')])).toEqual([
      { uid: 'uid of a', name: 'a', address: '10.0.0.1', stops: false },
      { uid: 'uid of c', name: 'c', address: '10.0.0.2', stops: false },
      { uid: 'uid of b', name: 'b', address: 'fd00::1', stops: false },
    ]);
  });

  test('stay while they stop', () => {
    expect(foundPods([pod('a', { deleted: '2026-01-03T00:00:00Z' })])).toMatchObject([{ stops: true }]);
  });

  test.each([
    { ip: null },
    { ip: '' },
    { ip: 'haproxy.example' },
    { ip: '10.0.0.1:5555/x?' },
    { phase: 'Failed' },
    { phase: 'Succeeded' },
  ])('are not spoken to with %j', (facts) => {
    expect(names(pod('a', facts))).toEqual([]);
  });

  test('are spoken to before they are ready: they get ready by it', () => {
    expect(names(pod('a', { phase: 'Pending' }))).toEqual(['a']);
  });

  test('of one address are one: who was made last', () => {
    const [old, young] = [pod('z'), pod('a', { created: '2026-02-01T00:00:00Z' })];
    expect(names(old, young)).toEqual(['a']);
    expect(names(young, old)).toEqual(['a']);
  });

  test('without what every object of the API has are none', () => {
    expect(names({ ...pod('a'), metadata: { name: 'a' } })).toEqual([]);
  });
});
