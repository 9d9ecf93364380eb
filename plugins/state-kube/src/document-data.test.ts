import { randomBytes } from 'node:crypto';
import { Refused } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { documentFields, documentOf } from './document-data.ts';

test.each(['', 'short', 'é'.repeat(200_000)])('a document comes back as it was', (document) => {
  expect(documentOf('quarantine', { ...documentFields('quarantine', document) })).toBe(document);
});

test('what does not shrink enough is refused', () => {
  const document = randomBytes(400_000).toString('base64');
  expect(() => documentFields('quarantine', document)).toThrow(Refused);
  expect(() => documentFields('quarantine', document)).toThrow('too large');
});

test('what somebody broke is an empty document, and what is not there none', () => {
  expect(documentOf('a', { binaryData: { a: 'bm8=' } })).toBe('');
  expect(documentOf('a', { data: { b: '' }, binaryData: null })).toBeUndefined();
});
