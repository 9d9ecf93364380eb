import { randomBytes } from 'node:crypto';
import { Refused } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { checkSum, documentFields, documentOf } from './document-data.ts';

test.each(['', 'short', 'é'.repeat(200_000)])('a document comes back as it was', (document) => {
  expect(documentOf('quarantine', { ...documentFields('quarantine', document) })).toBe(document);
});

test('what does not shrink enough is refused', () => {
  const document = randomBytes(400_000).toString('base64');
  expect(() => documentFields('quarantine', document)).toThrow(Refused);
  expect(() => documentFields('quarantine', document)).toThrow('too large');
});

test('all documents together are bounded, however each of them is stored', () => {
  const packed = documentFields('packed', randomBytes(300_000).toString('hex').slice(0, 400_000));
  const stored = {
    data: { text: 'x'.repeat(400_000), other: 'é'.repeat(1_000) },
    binaryData: { packed: packed.binaryData['packed'] },
  };
  const size = Buffer.from(packed.binaryData['packed']!, 'base64').length;
  const left = 1024 * 1024 - 400_000 - 2_000 - size;
  const more = (bytes: number) => ({ data: { more: 'x'.repeat(bytes) }, binaryData: { more: null } });
  expect(() => checkSum(stored, more(left))).not.toThrow();
  expect(() => checkSum(stored, more(left + 1))).toThrow(Refused);
  expect(() => checkSum(stored, more(left + 1))).toThrow(
    `1048577 bytes (more ${left + 1}, text 400000, packed ${size}, other 2000), at most 1048576`,
  );
  // What a document takes now is no longer taken when it is written anew.
  expect(() => checkSum({ data: { more: 'x'.repeat(1_000_000) } }, more(1_000_000))).not.toThrow();
});

test('what somebody broke is an empty document, and what is not there none', () => {
  expect(documentOf('a', { binaryData: { a: 'bm8=' } })).toBe('');
  expect(documentOf('a', { data: { b: '' }, binaryData: null })).toBeUndefined();
});
