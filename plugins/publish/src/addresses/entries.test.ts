import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { entriesOf, entriesWith } from './entries.ts';

const ours = [{ ip: '192.0.2.1' }];
const theirs = { hostname: 'lb.test', ports: [{ port: 80, protocol: 'TCP' }] };

test.each<[string, readonly object[], readonly string[], readonly object[] | undefined]>([
  ['are added', [], [], ours],
  ['stay', ours, ['192.0.2.1'], undefined],
  ['stand behind those of others, which stay as they are', [theirs], [], [theirs, ...ours]],
  ['replace those of before', [{ ip: '192.0.2.7' }, theirs], ['192.0.2.7'], [theirs, ...ours]],
  ['stay beside those that we never wrote', [{ ip: '192.0.2.7' }, ...ours], ['192.0.2.1'], undefined],
  ['stay with fields that others gave them', [{ ...ours[0], ports: [] }], ['192.0.2.1'], undefined],
])('our addresses %s', (_what, live, written, expected) => {
  expect(entriesWith(live as never, ours, new Set(written))).toEqual(expected);
});

test('an object without a status has none', () => {
  expect(entriesOf({})).toEqual([]);
  expect(entriesOf({ status: { loadBalancer: null } })).toEqual([]);
});

test('whatever is there, nothing of others is lost, and once is enough', () => {
  const word: fc.Arbitrary<string> = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const words = fc.uniqueArray(word);
  fc.assert(
    fc.property(words, words, words, (live, wanted, written) => {
      const entries = live.map((ip) => ({ ip }));
      const addresses = wanted.map((ip) => ({ ip }));
      const known = new Set([...written, ...wanted]);
      const next = entriesWith(entries, addresses, known) ?? entries;
      const result = next.map(({ ip }) => ip as string);
      const foreign = live.filter((ip) => !known.has(ip));
      expect(result.filter((ip) => !known.has(ip))).toEqual(foreign);
      expect(new Set(result)).toEqual(new Set([...foreign, ...wanted]));
      expect(entriesWith(next, addresses, known)).toBeUndefined();
    }),
  );
});
