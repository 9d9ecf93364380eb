import { describe, expect, it } from 'vitest';
import { Cancelled } from '../contract/index.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { PacedSlot } from './paced-slot.ts';

const never = new AbortController().signal;

describe('a paced slot', () => {
  it('rests after each run for as long as it took', async () => {
    const clock = fakeClock();
    const slot = new PacedSlot(clock);
    const begun: number[] = [];
    const run = (): Promise<void> =>
      slot.run(never, async () => {
        begun.push(clock.now());
        await clock.sleep(40);
      });
    const start = clock.now();
    const all = Promise.all([run(), run(), run()]);
    await clock.advance(200);
    await all;
    expect(begun.map((time) => time - start)).toEqual([0, 80, 160]);
  });

  it('rests after work that failed, too', async () => {
    const clock = fakeClock();
    const slot = new PacedSlot(clock);
    const failing = slot.run(never, async () => {
      await clock.sleep(40);
      throw new Error('no');
    });
    const failed = expect(failing).rejects.toThrow('no');
    await clock.advance(40);
    await failed;
    let begun = false;
    const next = slot.run(never, async () => void (begun = true));
    await clock.advance(39);
    expect(begun).toBe(false);
    await clock.advance(1);
    await next;
  });

  it('runs one at a time, also behind one that was called off', async () => {
    const clock = fakeClock();
    const slot = new PacedSlot(clock);
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = slot.run(never, () => promise);
    const off = new AbortController();
    const second = expect(slot.run(off.signal, async () => {})).rejects.toThrow(Cancelled);
    let third = false;
    const last = slot.run(never, async () => void (third = true));
    off.abort();
    await clock.advance(1_000);
    expect(third).toBe(false);
    resolve();
    await Promise.all([first, second]);
    await clock.advance(1_000);
    await last;
    expect(third).toBe(true);
  });
});
