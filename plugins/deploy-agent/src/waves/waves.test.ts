import { describe, expect, test } from 'vitest';
import type { Outcome } from '@haptic/core/contract';
import type { Trial, WaveOrder } from './wave-group.ts';
import { Waves, type Entry } from './waves.ts';

type Going = Extract<Entry, { kind: 'go' }>;

/** Pods with the version of their HAProxy. */
function stage(versions: Readonly<Record<string, string>>, { size = 1, soak = 1_000 } = {}) {
  const runs = new Map<string, string | undefined>(Object.keys(versions).map((name) => [name, undefined]));
  let now = 0;
  let releases = 0;
  const waves = new Waves({
    now: () => now,
    settings: () => ({ size, soak }),
    members: () =>
      [...runs].map(([name, planId]) => ({ id: name, name, version: versions[name], runs: planId })),
    released: () => (releases += 1),
  });
  const enter = (pod: string, planId: string, change: Partial<WaveOrder> = {}): Entry =>
    waves.enter({ pod, version: versions[pod], planId, loads: true, kinds: [], ...change });
  return {
    waves,
    runs,
    releases: () => releases,
    pass: (ms: number) => (now += ms),
    /** The place of an order that may go, or why it is held. */
    ask: (pod: string, planId: string, change?: Partial<WaveOrder>): string => {
      const entry = enter(pod, planId, change);
      return entry.kind === 'go' ? entry.place.kind : [entry.reason, entry.message ?? []].flat().join(' ');
    },
    go: (pod: string, planId: string, change?: Partial<WaveOrder>): Going => {
      const entry = enter(pod, planId, change);
      if (entry.kind !== 'go') throw new Error(`${pod} is held: ${entry.reason}`);
      return entry;
    },
    end: (
      entry: Going,
      result: Outcome['result'] = 'reload',
      more: Partial<Outcome> = {},
    ): Trial | undefined => {
      const { pod, planId } = entry.order;
      if (result !== 'rejected' && result !== 'unreachable') runs.set(pod, planId);
      return waves.ended(entry, { result, ...more });
    },
    held: () => [...runs.keys()].filter((pod) => waves.heldPlan(pod) !== undefined),
  };
}

const three = { a: '3.4', b: '3.4', c: '3.4' };
const adds = (profile: string): Partial<WaveOrder> => ({ loads: false, kinds: [`backend.add ${profile}`] });
const refused = { stage: 'reload', message: 'unknown keyword' };

describe('a reload', () => {
  test('goes to one pod, then to the others one by one', () => {
    const { waves, ask, go, end, held } = stage(three);
    const first = go('a', 'one');
    expect(first.place.kind).toBe('lead');
    expect([ask('b', 'one'), ask('c', 'one')]).toEqual(['wave_waits:a', 'wave_waits:a']);
    const trial = end(first)!;
    // It has loaded it, and is still to prove itself.
    expect(held()).toEqual(['b', 'c']);
    expect(ask('b', 'one')).toBe('wave_waits:a');
    waves.watched('3.4', trial);
    // One of them may come; the other one is told that it is not its turn.
    const second = go('c', 'one');
    expect(second.place.kind).toBe('follow');
    expect(ask('b', 'one')).toBe('wave_turn');
    expect(end(second)).toBeUndefined();
    expect(held()).toEqual([]);
    expect(ask('b', 'one')).toBe('follow');
  });

  test('never goes to all pods at once, however many may', () => {
    const { go, end, waves, ask } = stage(three, { size: 10 });
    waves.watched('3.4', end(go('a', 'one'))!);
    expect([ask('b', 'one'), ask('c', 'one')]).toEqual(['follow', 'follow']);
    const two = stage({ a: '3.4', b: '3.0' }, { size: 10 });
    expect([two.ask('a', 'one'), two.ask('b', 'one')]).toEqual(['alone', 'wave_turn']);
  });

  test('waits for nobody where there is one pod', () => {
    const { go, end, ask } = stage({ a: '3.4' });
    const entry = go('a', 'one');
    expect(entry.place.kind).toBe('alone');
    expect(end(entry)).toBeUndefined();
    expect(ask('a', 'two')).toBe('alone');
  });

  test('does not remember every profile of a long term', () => {
    const { go, end, ask } = stage({ a: '3.4' });
    const of = (profile: number): Partial<WaveOrder> => ({
      loads: false,
      kinds: ['map.set', `server.add ${profile}`],
    });
    for (let profile = 0; profile < 4_200; profile += 1) end(go('a', `${profile}`, of(profile)));
    expect([ask('a', 'next', of(4_199)), ask('a', 'next', of(0))]).toEqual(['plain', 'alone']);
  });

  test('has a leader in each version', () => {
    const { go, end, ask } = stage({ a: '3.4', b: '3.4', x: '3.0', y: '3.0' }, { size: 2 });
    const [one, other] = [go('a', 'one'), go('x', 'one')];
    expect([one.place.kind, other.place.kind]).toEqual(['lead', 'lead']);
    expect([ask('b', 'one'), ask('y', 'one')]).toEqual(['wave_waits:a', 'wave_waits:x']);
    end(one);
    expect(ask('y', 'one')).toBe('wave_waits:x');
  });

  test('of a plan that a pod runs needs no trial', () => {
    const { runs, ask } = stage(three);
    runs.set('c', 'one');
    expect([ask('a', 'one'), ask('b', 'one')]).toEqual(['follow', 'wave_turn']);
  });

  test('of a plan that a proven pod is let go to by nothing new needs no trial', () => {
    const { waves, go, end, ask } = stage(three);
    waves.watched('3.4', end(go('a', 'one'))!);
    expect(ask('a', 'two', { loads: false })).toBe('plain');
    expect(ask('b', 'two')).toBe('follow');
  });

  test('keeps its turn until it is done, also where the agent puts it off', () => {
    const { go, end, waves, ask } = stage({ a: '3.4', x: '3.0' });
    const entry = go('a', 'one');
    expect(ask('x', 'one')).toBe('wave_turn');
    expect(waves.heldPlan('x')).toBe('one');
    end(entry);
    expect(waves.heldPlan('x')).toBeUndefined();
    expect(ask('x', 'one')).toBe('alone');
  });

  test('a turn that nobody comes for goes to the next one', () => {
    const { waves, go, end, ask, held, pass } = stage(three);
    const first = go('a', 'one');
    ask('b', 'one');
    ask('c', 'one');
    waves.watched('3.4', end(first)!);
    expect(ask('c', 'one')).toBe('wave_turn');
    pass(5_000);
    waves.recheck();
    expect(held()).toEqual([]);
    expect(ask('c', 'one')).toBe('follow');
  });
});

describe('a change at run time', () => {
  test('of a kind that no pod had goes to one pod first, of a known one to all', () => {
    const { waves, go, end, ask } = stage(three);
    const first = go('a', 'one', adds('web'));
    expect(first.place.kind).toBe('lead');
    expect(ask('b', 'one', adds('web'))).toBe('wave_waits:a');
    expect(ask('b', 'one', { loads: false, kinds: [] })).toBe('plain');
    waves.watched('3.4', end(first, 'runtime')!);
    for (const pod of ['a', 'b', 'c']) expect(ask(pod, 'two', adds('web'))).toBe('plain');
    expect(ask('b', 'three', adds('api'))).toBe('lead');
  });

  test('a new kind in another version, or in another term, is new', () => {
    const { waves, go, end, ask } = stage({ ...three, x: '3.0', y: '3.0' });
    waves.watched('3.4', end(go('a', 'one', adds('web')), 'runtime')!);
    expect(ask('x', 'two', adds('web'))).toBe('lead');
    waves.reset();
    expect(ask('a', 'two', adds('web'))).toBe('lead');
  });

  test('of one pod alone is known to those that come later', () => {
    const { runs, go, end, ask } = stage(three);
    runs.delete('b');
    runs.delete('c');
    expect(end(go('a', 'one', adds('web')), 'runtime')).toBeUndefined();
    runs.set('b', undefined);
    expect(ask('b', 'two', adds('web'))).toBe('plain');
  });
});

describe('a leader', () => {
  test('that refuses keeps the others from it, and leads again when the plan changes', () => {
    const { waves, go, end, ask, held, releases } = stage(three);
    const first = go('a', 'bad');
    ask('b', 'bad');
    expect(end(first, 'rejected', refused)).toBeUndefined();
    // Told the reason, once.
    expect([held(), releases()]).toEqual([[], 1]);
    expect([ask('b', 'bad'), ask('c', 'bad')]).toEqual(
      Array.from({ length: 2 }, () => 'wave_halted:a unknown keyword'),
    );
    waves.recheck();
    expect(held()).toEqual(['b', 'c']);
    expect([ask('b', 'worse'), ask('a', 'worse')]).toEqual(['wave_waits:a', 'lead']);
  });

  test('that refused and runs something newer without trying holds nobody', () => {
    const { go, end, ask } = stage(three);
    end(go('a', 'bad'), 'rejected', refused);
    end(go('a', 'good', { loads: false }), 'runtime');
    expect(ask('b', 'good')).toBe('follow');
  });

  test.each([
    ['rejected', { stage: 'stage', message: 'no space left' }],
    ['unreachable', {}],
  ] as const)('that cannot take any plan (%s) makes room for another one', (result, more) => {
    const { go, end, ask, held } = stage(three);
    const first = go('a', 'one');
    ask('b', 'one');
    end(first, result, more);
    expect(held()).toEqual([]);
    expect(ask('b', 'one')).toBe('lead');
  });

  test.each(['before it has loaded', 'while it is watched'])('that goes %s makes room', (when) => {
    const { waves, runs, go, end, ask, held } = stage(three);
    const first = go('a', 'one');
    ask('b', 'one');
    const trial = when === 'while it is watched' ? end(first) : undefined;
    runs.delete('a');
    if (trial === undefined) waves.ended(first, { result: 'unreachable' });
    else waves.recheck();
    expect(held()).toEqual([]);
    expect(ask('b', 'one')).toBe('lead');
    // What was watched is nobody's by now.
    if (trial !== undefined) waves.watched('3.4', trial, 'dead');
    expect(ask('c', 'one')).toBe('wave_waits:b');
  });

  test('that is not well keeps the others from whatever needs a wave, until it has a better plan', () => {
    const { waves, go, end, ask, held } = stage(three);
    const trial = end(go('a', 'bad'))!;
    ask('b', 'bad');
    waves.watched('3.4', trial, 'HAProxy is gone');
    expect(waves.isSick('3.4', 'a')).toBe(true);
    expect(ask('b', 'bad')).toBe('wave_halted:a HAProxy is gone');
    expect(ask('a', 'other', { loads: false })).toBe('plain');
    expect(ask('b', 'other')).toBe('wave_halted:a HAProxy is gone');
    expect(ask('b', 'bad', { loads: false })).toBe('plain');
    const better = go('a', 'good');
    expect(better.place.kind).toBe('lead');
    ask('b', 'good');
    waves.watched('3.4', end(better)!);
    expect([held(), waves.isSick('3.4', 'a')]).toEqual([[], false]);
    expect(ask('b', 'good')).toBe('follow');
  });

  test('that is sent the same plan once more, since it lost it, proves nothing by that', () => {
    const { waves, go, end, ask } = stage(three);
    const trial = end(go('a', 'bad'))!;
    expect(end(go('a', 'bad'))).toBe(trial);
    waves.watched('3.4', trial, 'HAProxy is gone');
    expect(end(go('a', 'bad'))).toBeUndefined();
    expect(ask('b', 'bad')).toBe('wave_halted:a HAProxy is gone');
  });

  test('that gets well by itself holds nobody any more', () => {
    const { waves, go, end, ask } = stage(three);
    waves.watched('3.4', end(go('a', 'one'))!, 'too many errors');
    ask('b', 'one');
    waves.recovered('3.4', 'a');
    expect(ask('b', 'one')).toBe('follow');
  });

  test('that gets something newer is watched anew, but does not hold the others for ever', () => {
    const { waves, go, end, ask, pass } = stage(three);
    const trial = end(go('a', 'one'))!;
    expect(waves.soakOf(trial)).toBe(1_000);
    pass(900);
    const newer = end(go('a', 'two'))!;
    expect(waves.soakOf(newer)).toBe(1_000);
    waves.watched('3.4', trial);
    expect(ask('b', 'two')).toBe('wave_waits:a');
    pass(3_600);
    expect(waves.soakOf(end(go('a', 'three'))!)).toBe(500);
    pass(600);
    const last = end(go('a', 'four'))!;
    expect(waves.soakOf(last)).toBe(0);
    waves.watched('3.4', last);
    expect(ask('b', 'four')).toBe('follow');
  });

  test('takes what is nothing new while it is watched, and the others get that', () => {
    const { waves, go, end, ask } = stage(three);
    const trial = end(go('a', 'one'))!;
    end(go('a', 'two', { loads: false }), 'runtime');
    expect(ask('b', 'two')).toBe('wave_waits:a');
    waves.watched('3.4', trial);
    expect(ask('b', 'two')).toBe('follow');
  });
});

test('a plan that is taken back is tried by nobody', () => {
  const { waves, go, end, ask, held } = stage(three);
  const trial = end(go('a', 'bad', adds('web')), 'runtime')!;
  ask('b', 'bad', adds('web'));
  waves.withdraw('bad');
  expect(held()).toEqual([]);
  waves.watched('3.4', trial);
  expect(ask('b', 'good', adds('web'))).toBe('lead');
});

test('a pod that is away waits for nothing', () => {
  const { waves, runs, go, ask, held } = stage(three);
  go('a', 'one');
  ask('b', 'one');
  runs.delete('b');
  waves.recheck();
  runs.set('b', undefined);
  expect(held()).toEqual([]);
});
