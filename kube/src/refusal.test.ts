import { expect, test } from 'vitest';
import { refusalProblem } from './refusal-problem.ts';

test('says each refusal once, and of many how many there are', () => {
  expect(refusalProblem([])).toBeUndefined();
  expect(refusalProblem(['a', 'b', 'a'])).toBe('a; b');
  expect(refusalProblem(['1', '2', '3', '4', '5', '6', '7'])).toBe('1; 2; 3; 4; 5; and 2 more');
});
