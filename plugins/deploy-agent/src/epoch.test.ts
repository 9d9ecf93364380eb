import { Cancelled, type Term, type Terms } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { Epoch } from './epoch.ts';
import { Tokens } from './tokens.ts';

const { signal } = new AbortController();

/** One process that leads, or does not, and a Lease that takes what it is told. */
function terms(epoch: number, leader = true) {
  const raised: number[] = [];
  let term: Term = { leader, epoch, signal };
  const provider: Terms = {
    current: () => term,
    onChange: () => () => {},
    raise: (seen) => {
      raised.push(seen);
      if (!term.leader) return Promise.reject(new Cancelled('the term has ended'));
      term = { ...term, epoch: Math.max(term.epoch, seen + 1) };
      return Promise.resolve(term.epoch);
    },
  };
  const end = (): void => {
    term = { leader: false, epoch: 0, signal: AbortSignal.abort() };
  };
  return { epoch: new Epoch(() => provider), raised, end };
}

test('tokens rise over all pods, so that one that comes back has seen lower ones only', () => {
  const { epoch } = terms(3);
  const [one, other] = [new Tokens(epoch), new Tokens(epoch)];
  expect([
    one.next(null),
    other.next(null),
    one.next(null),
    new Tokens(epoch).next({ epoch: 3, seq: 3 }),
  ]).toEqual([
    { epoch: 3, seq: 1 },
    { epoch: 3, seq: 2 },
    { epoch: 3, seq: 3 },
    { epoch: 3, seq: 4 },
  ]);
});

test('in a term the Lease rises above what a pod has seen', async () => {
  const { epoch, raised } = terms(2);
  const tokens = new Tokens(epoch);
  tokens.next({ epoch: 9, seq: 1 });
  expect(raised).toEqual([]);
  expect(await tokens.outbid({ epoch: 9, seq: 1 }, signal)).toBe(true);
  expect(raised).toEqual([9]);
  expect(tokens.next(null)).toMatchObject({ epoch: 10 });
});

test('a pod that was written to is no exception: whoever holds the Lease leads', async () => {
  const { epoch } = terms(2);
  const tokens = new Tokens(epoch);
  tokens.next(null);
  tokens.accepted();
  expect(await tokens.outbid({ epoch: 5, seq: 1 }, signal)).toBe(true);
});

test('what this process wrote itself is outdone without the Lease', async () => {
  const { epoch, raised } = terms(2);
  const tokens = new Tokens(epoch);
  const sent = tokens.next(null);
  expect(await tokens.outbid(sent, signal)).toBe(true);
  expect(raised).toEqual([]);
  // Somebody else has used our epoch.
  expect(await tokens.outbid({ epoch: 2, seq: 50 }, signal)).toBe(true);
  expect(raised).toEqual([2]);
});

test('after a term nobody writes', async () => {
  const { epoch, end } = terms(2);
  const tokens = new Tokens(epoch);
  tokens.next(null);
  end();
  expect(() => tokens.next(null)).toThrow(Cancelled);
  expect(await tokens.outbid({ epoch: 3, seq: 1 }, signal)).toBe(false);
});

test('an epoch that nobody can have seen changes nothing', async () => {
  const { epoch, raised } = terms(2);
  expect(await new Tokens(epoch).outbid({ epoch: 2 ** 53 - 1, seq: 1 }, signal)).toBe(false);
  expect(raised).toEqual([]);
  const alone = new Tokens(new Epoch(() => undefined));
  expect(alone.next({ epoch: 2 ** 53 - 1, seq: 1 })).toMatchObject({ epoch: 1 });
  // Agents do not take the one after it.
  expect(alone.next({ epoch: 2 ** 40, seq: 1 })).toMatchObject({ epoch: 1 });
  expect(alone.next({ epoch: 2 ** 40 - 1, seq: 1 })).toMatchObject({ epoch: 2 ** 40 });
});

test('without terms a pod that was never written to is outdone, and one that was is left to whoever came', async () => {
  const tokens = new Tokens(new Epoch(() => undefined));
  expect(tokens.next({ epoch: 7, seq: 1 })).toMatchObject({ epoch: 8 });
  tokens.accepted();
  expect(await tokens.outbid({ epoch: 9, seq: 1 }, signal)).toBe(false);
});
