import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from './nearest.ts';

describe('nearest', () => {
  it.each([
    ['templateSnippet', ['templateSnippets', 'validationTests'], 'templateSnippets'],
    ['tempalteSnippets', ['templateSnippets'], 'templateSnippets'],
    ['haproxyconfig', ['haproxyConfig', 'maps'], 'haproxyConfig'],
    ['mpa', ['map'], 'map'],
    ['filse', ['maps', 'files'], 'files'],
    ['hots', ['dots', 'host'], 'dots'],
    ['xyz', ['maps', 'files'], undefined],
    ['a', ['b'], 'b'],
    ['ab', ['xy'], undefined],
    ['', ['a'], undefined],
    ['anything', [], undefined],
    ['toString', ['tostring'], 'tostring'],
  ])('%s among %j is %s', (word, candidates, expected) => {
    expect(nearest(word, candidates)).toBe(expected);
  });

  it('does not depend on the order of candidates', () => {
    expect(nearest('bat', ['cat', 'bar', 'hat'])).toBe(nearest('bat', ['hat', 'bar', 'cat']));
  });

  it('answers at once for words that nobody misspelt', () => {
    expect(nearest('a'.repeat(1_000_000), ['a'.repeat(1_000_001)])).toBeUndefined();
  });
});

describe('didYouMean', () => {
  it('ends a message, or says nothing', () => {
    expect(didYouMean('mapz', ['maps'])).toBe(', did you mean "maps"?');
    expect(didYouMean('zzzz', ['maps'])).toBe('');
  });
});
