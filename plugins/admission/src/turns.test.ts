import { fakeClock } from '@haptic/core/testing';
import { describe, expect, test } from 'vitest';
import { Turns } from './turns.ts';

const signal = new AbortController().signal;

describe('turns', () => {
  test('leave half of the time to others, and one after another waits for nobody', async () => {
    const clock = fakeClock();
    const turns = new Turns({ clock, atOnce: 2, waiting: 100, burst: 0 });
    let done = 0;
    const flood = Array.from({ length: 20 }, () =>
      turns.take(signal, () => clock.sleep(100)).then(() => void (done += 1)),
    );
    await clock.advance(1_000);
    // Two at once, and each place rests as long as it worked.
    expect(done).toBe(10);
    await clock.advance(2_000);
    expect(done).toBe(20);
    await Promise.all(flood);

    const since = clock.now();
    for (let index = 0; index < 4; index += 1) {
      const one = turns.take(signal, () => clock.sleep(100));
      await clock.advance(100);
      await one;
    }
    expect(clock.now() - since).toBe(400);
  });

  test('let a burst through, and the next one when time has passed', async () => {
    const clock = fakeClock();
    const turns = new Turns({ clock, atOnce: 2, waiting: 100, burst: 500 });
    let done = 0;
    const flood = (): void => {
      for (let index = 0; index < 40; index += 1) {
        void turns.take(signal, () => clock.sleep(100)).then(() => (done += 1));
      }
    };
    flood();
    await clock.advance(1_000);
    expect(done).toBe(20);
    await clock.advance(1_000);
    expect(done).toBeLessThan(32);
    await clock.advance(10_000);
    expect(done).toBe(40);
    flood();
    await clock.advance(1_000);
    expect(done).toBe(60);
    await clock.advance(10_000);
  });

  test('have an end to how many wait, and who gives up leaves the others in line', async () => {
    const clock = fakeClock();
    const turns = new Turns({ clock, atOnce: 1, waiting: 2, burst: 0 });
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
    const turns = new Turns({ clock: fakeClock(), atOnce: 1, waiting: 1, burst: 0 });
    await expect(turns.take(signal, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await turns.take(signal, () => Promise.resolve(1))).toBe(1);
  });
});
