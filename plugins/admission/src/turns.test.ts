import { fakeClock } from '@haptic/core/testing';
import { describe, expect, test } from 'vitest';
import { Turns } from './turns.ts';

const signal = new AbortController().signal;

describe('turns', () => {
  test('are so many at once, and the next one follows at once', async () => {
    const clock = fakeClock();
    const turns = new Turns({ atOnce: 2, waiting: 100 });
    let done = 0;
    const flood = Array.from({ length: 20 }, () =>
      turns.take(signal, () => clock.sleep(100)).then(() => void (done += 1)),
    );
    await clock.advance(500);
    expect(done).toBe(10);
    await clock.advance(500);
    await Promise.all(flood);
  });

  test('have an end to how many wait, and who gives up leaves the others in line', async () => {
    const clock = fakeClock();
    const turns = new Turns({ atOnce: 1, waiting: 2 });
    const told: string[] = [];
    const first = turns.take(signal, () => clock.sleep(10));
    const leaving = new AbortController();
    const second = turns.take(leaving.signal, () => Promise.resolve(told.push('second')));
    const third = turns.take(signal, () => Promise.resolve(told.push('third')));
    await expect(turns.take(signal, () => Promise.resolve())).rejects.toThrow('2 others wait to be judged');
    leaving.abort(new Error('late'));
    await expect(second).rejects.toThrow('late');
    await clock.advance(20);
    await Promise.all([first, third]);
    expect(told).toEqual(['third']);
  });

  test('come back after work that fails', async () => {
    const turns = new Turns({ atOnce: 1, waiting: 1 });
    await expect(turns.take(signal, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await turns.take(signal, () => Promise.resolve(1))).toBe(1);
  });
});
