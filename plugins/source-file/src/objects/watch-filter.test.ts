import { describe, expect, it } from 'vitest';
import type { KubeObject, WatchContent } from '@haptic/core/contract';
import { watchFilter } from './watch-filter.ts';

const base: WatchContent = {
  apiVersions: ['v1', 'v1beta1'],
  resources: 'services',
  optional: false,
  indexBy: [],
  namespaces: [],
  ignoreFields: [],
  admission: false,
  debounce: 0,
};
const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'a', namespace: 'shop', labels: { app: 'web' } },
  spec: { type: 'ClusterIP' },
};

describe('watchFilter', () => {
  it.each([
    ['everything', {}, {}, true],
    ['another version', {}, { apiVersion: 'v1beta1' }, true],
    ['a foreign version', {}, { apiVersion: 'v2' }, false],
    ['another kind', {}, { kind: 'Secret' }, false],
    ['its namespace', { namespaces: ['x', 'shop'] }, {}, true],
    ['another namespace', { namespaces: ['x'] }, {}, false],
    ['its labels', { labelSelector: 'app in (web)' }, {}, true],
    ['other labels', { labelSelector: 'app!=web' }, {}, false],
    ['its fields', { fieldSelector: 'spec.type=ClusterIP' }, {}, true],
    ['other fields', { fieldSelector: 'spec.type!=ClusterIP' }, {}, false],
  ])('%s', (_, watch, rest, expected) => {
    expect(watchFilter({ ...base, ...watch })({ ...object, ...rest })).toBe(expected);
  });
});
