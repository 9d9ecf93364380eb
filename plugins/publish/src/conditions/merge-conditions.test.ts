import { expect, test } from 'vitest';
import { declaredConditions } from './declared-conditions.ts';
import { mergeConditions } from './merge-conditions.ts';

const own = { type: 'Served', status: 'True', reason: 'Fine', message: '' } as const;
const theirs = { type: 'Ready', status: 'False', lastTransitionTime: 'then', extra: 1 };

test('ours stand beside those of others, with the time of their last change', () => {
  const first = mergeConditions([theirs], [own], new Set(), 'now');
  expect(first).toEqual([theirs, { ...own, lastTransitionTime: 'now' }]);
  expect(mergeConditions(first!, [own], new Set(['Served']), 'later')).toBeUndefined();
  expect(mergeConditions(first!, [{ ...own, message: 'x' }], new Set(['Served']), 'later')).toEqual([
    theirs,
    { ...own, message: 'x', lastTransitionTime: 'now' },
  ]);
  expect(mergeConditions(first!, [{ ...own, status: 'False' }], new Set(['Served']), 'later')).toEqual([
    theirs,
    { ...own, status: 'False', lastTransitionTime: 'later' },
  ]);
  expect(mergeConditions(first!, [], new Set(['Served']), 'later')).toEqual([theirs]);
});

test('several templates may speak of one object, and what is no condition is named', () => {
  const object = { apiVersion: 'v1', kind: 'Service', namespace: 'a', name: 'b' };
  const { declared, problems } = declaredConditions([
    { object, conditions: [{ type: 'Served', status: 'True' }] },
    {
      object,
      conditions: [
        { type: 'Served', status: 'False' },
        { ...own, type: 'Other' },
      ],
    },
    { object, conditions: [{ type: 'Served', status: 'maybe' }] },
  ]);
  expect(declared).toEqual([
    {
      object,
      conditions: [
        { type: 'Served', status: 'False', reason: 'Declared', message: '' },
        { ...own, type: 'Other' },
      ],
    },
  ]);
  expect(problems).toEqual([expect.stringContaining('conditions[0].status')]);
});
