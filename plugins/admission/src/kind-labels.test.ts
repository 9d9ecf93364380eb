import { expect, test } from 'vitest';
import { KindLabels } from './kind-labels.ts';

test('kinds are told apart, up to a number that nobody needs', () => {
  const labels = new KindLabels();
  expect(labels.of('Ingress')).toBe('Ingress');
  for (let index = 0; index < 1_000; index++) labels.of(`Kind${index}`);
  expect(new Set(Array.from({ length: 1_000 }, (_, index) => labels.of(`Kind${index}`))).size).toBe(32);
  expect(labels.of('Ingress')).toBe('Ingress');
});

test.each(['', 'a"b', 'x'.repeat(64), 'line\nbreak'])('%j is no kind', (kind) => {
  expect(new KindLabels().of(kind)).toBe('other');
});
