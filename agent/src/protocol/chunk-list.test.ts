import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { chunkParts, expandChunks } from './chunk-list.ts';

const lists = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), { maxLength: 20 });

test('the parts of a list make the list again', () => {
  fc.assert(
    fc.property(lists, lists, (list, base) => {
      expect(expandChunks(chunkParts(list, base), base, 100)).toEqual(list);
    }),
  );
  expect(chunkParts(['a', 'x', 'b', 'c'], ['a', 'b', 'c'])).toEqual([[0, 1], 'x', [1, 2]]);
});

test('parts of what is not there, or of too much, are none', () => {
  expect(expandChunks([[0, 2]], ['a'], 10)).toBeUndefined();
  expect(
    expandChunks(
      [
        [0, 2],
        [0, 2],
      ],
      ['a', 'b'],
      3,
    ),
  ).toBeUndefined();
  expect(expandChunks(['x', 'y'], [], 1)).toBeUndefined();
  expect(expandChunks([[0, 1_000_000]], [], 10)).toBeUndefined();
});
