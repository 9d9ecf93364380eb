import { describe, expect, it } from 'vitest';
import { Cancelled } from '../contract/index.ts';
import { fakeClock } from '../testing/index.ts';
import { Agenda } from './agenda.ts';

const { signal } = new AbortController();

describe('Agenda', () => {
  it('gives everything that is due at once, and nothing twice', async () => {
    const clock = fakeClock();
    const agenda = new Agenda<'a' | 'b' | 'c'>(clock);
    agenda.add('a');
    agenda.add('b');
    agenda.add('c', 10);
    expect(await agenda.take(signal)).toEqual(new Set(['a', 'b']));
    const next = agenda.take(signal);
    await clock.advance(10);
    expect(await next).toEqual(new Set(['c']));
  });

  it('keeps the earlier of two times', async () => {
    const clock = fakeClock();
    const agenda = new Agenda<'a'>(clock);
    agenda.add('a', 10);
    agenda.add('a', 100);
    const taken = agenda.take(signal);
    await clock.advance(10);
    expect(await taken).toEqual(new Set(['a']));
  });

  it('wakes whoever waits for a later time', async () => {
    const clock = fakeClock();
    const agenda = new Agenda<'late' | 'now'>(clock);
    agenda.add('late', 1_000);
    const taken = agenda.take(signal);
    await clock.advance(1);
    agenda.add('now');
    expect(await taken).toEqual(new Set(['now']));
    expect(clock.sleepers).toBe(0);
  });

  it('postpones up to a limit', async () => {
    const clock = fakeClock();
    const agenda = new Agenda<'a'>(clock);
    let taken = false;
    agenda.postpone('a', 50, 120);
    void agenda.take(signal).then(() => (taken = true));
    for (let passed = 0; passed < 120; passed += 40) {
      expect(taken).toBe(false);
      agenda.postpone('a', 50, 120);
      await clock.advance(40);
    }
    expect(taken).toBe(true);
  });

  it.each([0, 1_000])('ends with its signal while it waits (next work in %i ms)', async (delay) => {
    const clock = fakeClock();
    const agenda = new Agenda<'a'>(clock);
    if (delay > 0) agenda.add('a', delay);
    const abort = new AbortController();
    const taken = agenda.take(abort.signal);
    abort.abort();
    await expect(taken).rejects.toThrow(Cancelled);
    expect(clock.sleepers).toBe(0);
  });
});
