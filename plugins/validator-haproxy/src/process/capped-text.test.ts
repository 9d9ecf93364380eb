import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CappedText } from './capped-text.ts';

test('what fits is kept as it is, however it is cut into chunks', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (parts) => {
      const text = new CappedText(10_000);
      for (const part of parts) text.add(Buffer.from(part));
      expect(text.text()).toBe(Buffer.from(parts.join('')).toString());
    }),
  );
});

test('beyond the limit only whole lines are kept', () => {
  const text = new CappedText(10);
  for (const chunk of ['one\nt', 'wo\nthree\n', 'four\n']) text.add(Buffer.from(chunk));
  expect(text.text()).toBe('one\ntwo\n(cut: more than 10 bytes)\n');
});
