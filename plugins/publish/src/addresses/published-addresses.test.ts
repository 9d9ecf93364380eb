import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { describePlaces, latestAddresses, publishedAddresses } from './published-addresses.ts';

const MOST = 32;

const addresses = fc.uniqueArray(
  fc.integer({ min: 0, max: 99 }).map((number) => `192.0.2.${number}`),
  { maxLength: 40 },
);

test('what was in use last is kept, and nothing that is in use is forgotten', () => {
  fc.assert(
    fc.property(fc.array(addresses, { maxLength: 60 }), (uses) => {
      const lastUse = new Map<string, number>();
      let known: readonly string[] = [];
      for (const [time, used] of uses.entries()) {
        known = stored(latestAddresses(known, used));
        for (const address of used) lastUse.set(address, time);
        const latestFirst = [...lastUse].toSorted(([, one], [, other]) => other - one);
        expect(known).toHaveLength(Math.min(lastUse.size, Math.max(MOST, used.length)));
        expect(known).toEqual(expect.arrayContaining(used));
        const times = known.map((address) => lastUse.get(address)!);
        expect(times).toEqual(times.toSorted((one, other) => one - other));
        // Each that is kept was in use no earlier than any that is not.
        expect(times.toReversed()).toEqual(latestFirst.slice(0, known.length).map(([, use]) => use));
      }
    }),
  );
});

test('the same addresses are the same document', () => {
  fc.assert(
    fc.property(addresses, addresses, (known, used) => {
      const once = stored(latestAddresses(known, used));
      expect(stored(latestAddresses(once, used))).toEqual(once);
    }),
  );
});

/** As the next process reads it. */
function stored(list: readonly string[]): readonly string[] {
  return publishedAddresses.parse(JSON.parse(JSON.stringify(describePlaces([], list)))).addresses;
}
