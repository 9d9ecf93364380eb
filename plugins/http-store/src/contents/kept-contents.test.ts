import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { StateStore } from '@haptic/core/contract';
import { fakeClock, memoryLog } from '@haptic/core/testing';
import { KeptContents } from './kept-contents.ts';

describe('kept contents', () => {
  it('miss no change that comes just when a write ends', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const write = Promise.withResolvers<void>();
      const written: string[] = [];
      const store: StateStore = {
        read: async () => undefined,
        write: async (_name, text) => {
          written.push(text);
          await write.promise;
        },
      };
      const kept = new KeptContents(store, memoryLog(), fakeClock());
      kept.keep(new Map([['https://a/', 'first']]));
      write.resolve();
      for (let passed = 0; passed < turns; passed++) await Promise.resolve();
      kept.keep(new Map([['https://a/', 'second']]));
      await turn();
      expect(written.at(-1), `after ${turns} turns`).toContain('second');
      await kept.close();
    }
  });

  it('are written when the store answers again, and said to be missing once', async () => {
    const clock = fakeClock();
    const log = memoryLog();
    const written: string[] = [];
    let fails = true;
    const store: StateStore = {
      read: async () => undefined,
      write: async (_name, text) => {
        if (fails) throw new Error('no space left on device');
        written.push(text);
      },
    };
    const kept = new KeptContents(store, log, clock);
    kept.keep(new Map([['https://a/', 'first']]));
    for (const wait of [0, 1_000, 2_000]) await clock.advance(wait);
    fails = false;
    await clock.advance(4_000);
    expect(written).toHaveLength(1);
    expect(written[0]).toContain('first');
    expect(log.records.map(({ level }) => level)).toEqual(['warn', 'debug', 'debug', 'info']);
    await kept.close();
  });

  it('are tried once more at the end, which does not wait for a store that fails', async () => {
    const clock = fakeClock();
    let tries = 0;
    const store: StateStore = {
      read: async () => undefined,
      write: async () => {
        tries++;
        throw new Error('away');
      },
    };
    const kept = new KeptContents(store, memoryLog(), clock);
    kept.keep(new Map([['https://a/', 'first']]));
    await clock.advance(0);
    await kept.close();
    expect([tries, clock.sleepers]).toEqual([2, 0]);
  });
});
