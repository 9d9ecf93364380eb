import { Retry } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { ApiError } from './api-error.ts';
import { refusalOf, refusalProblem } from './refusal.ts';

test('says each refusal once, and of many how many there are', () => {
  expect(refusalProblem([])).toBeUndefined();
  expect(refusalProblem(['a', 'b', 'a'])).toBe('a; b');
  expect(refusalProblem(['1', '2', '3', '4', '5', '6', '7'])).toBe('1; 2; 3; 4; 5; and 2 more');
});

const forbidden = new ApiError(403, 'Forbidden', 'cannot patch');
const ending = new ApiError(403, 'Forbidden', 'x is forbidden: namespace a is being terminated');
test.each([
  [forbidden, forbidden],
  [new Retry('not written yet', { cause: forbidden }), forbidden],
  [new ApiError(401, 'Unauthorized', 'who?'), expect.any(ApiError)],
  [ending, undefined],
  [new ApiError(422, 'Invalid', 'no'), undefined],
  [new Error('other'), undefined],
  ['text', undefined],
])('%s', (error, expected) => {
  expect(refusalOf(error)).toEqual(expected);
});
