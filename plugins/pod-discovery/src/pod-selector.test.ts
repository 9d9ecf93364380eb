import { expect, test } from 'vitest';
import { podSelectorSchema } from './pod-selector.ts';

test.each([
  { matchLabels: { app: 'haproxy' } },
  { matchLabels: { 'app.kubernetes.io/name': 'ha_proxy-1.x', empty: '' } },
  undefined,
])('%j is a selector', (selector) => {
  expect(podSelectorSchema.parse(selector)).toEqual(selector);
});

test.each([
  [{}, 'matchLabels'],
  [{ matchLabels: {} }, 'at least one label'],
  [{ matchLabels: { 'a,b': 'c' } }, 'key of a label'],
  [{ matchLabels: { a: 'b,c!=d' } }, 'value of a label'],
  [{ matchLabels: { a: 'b' }, matchExpressions: [] }, 'matchExpressions'],
])('%j is refused', (selector, words) => {
  const { error } = podSelectorSchema.safeParse(selector);
  expect(JSON.stringify(error?.issues)).toContain(words);
});
