import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Cancelled, Retry, type StateStore } from '../contract/index.ts';
import { fakeClock, memoryLog } from '../testing/index.ts';
import { KeptDocument } from './kept-document.ts';

function stage(quietMs = 0) {
  const written: string[] = [];
  const state = { failing: 0 };
  const store: StateStore = {
    read: async () => {
      if (state.failing-- > 0) throw new Retry('away');
      return written.at(-1);
    },
    write: async (_name, document) => {
      await turn();
      if (state.failing-- > 0) throw new Retry('away');
      written.push(document);
    },
  };
  const clock = fakeClock();
  const log = memoryLog();
  const document = new KeptDocument({ name: 'x', store, clock, log, quietMs });
  return { document, written, clock, log, state };
}

const { signal } = new AbortController();

describe('a kept document', () => {
  it('is written behind its changes, the newest only, one at a time', async () => {
    const { document, written, clock } = stage();
    let state = 1;
    document.put(() => String(state));
    state = 2;
    document.put(() => String(state));
    document.put(() => String(state));
    await clock.advance(1);
    await clock.advance(1);
    document.put(() => 'last');
    await document.close();
    expect(written.at(-1)).toBe('last');
    expect(written.length).toBeLessThanOrEqual(3);
  });

  it('misses no change that comes just when a write ends', async () => {
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
      const document = new KeptDocument({
        name: 'x',
        store,
        clock: fakeClock(),
        log: memoryLog(),
        quietMs: 0,
      });
      document.put(() => 'a');
      write.resolve();
      for (let passed = 0; passed < turns; passed++) await Promise.resolve();
      document.put(() => 'b');
      await turn();
      expect(written, `after ${turns} turns`).toEqual(['a', 'b']);
    }
  });

  it('waits for quiet where it is told to, but not when it is closed', async () => {
    const { document, written, clock } = stage(1_000);
    document.put(() => 'a');
    await clock.advance(999);
    expect(written).toEqual([]);
    await clock.advance(1);
    await clock.advance(1);
    expect(written).toEqual(['a']);
    document.put(() => 'b');
    await document.close();
    expect(written).toEqual(['a', 'b']);
    document.put(() => 'c');
    await document.close();
    expect(written).toEqual(['a', 'b']);
  });

  it('is tried again until the store answers, to write and to read', async () => {
    const { document, written, clock, log, state } = stage();
    state.failing = 2;
    document.put(() => 'a');
    await clock.advance(1);
    expect(written).toEqual([]);
    await clock.advance(1_000);
    await clock.advance(2_000);
    await clock.advance(1);
    expect(written).toEqual(['a']);
    expect(log.records.map(({ level }) => level)).toEqual(['warn', 'debug', 'info']);
    state.failing = 1;
    const read = document.read(signal);
    await clock.advance(1_000);
    expect(await read).toBe('a');
  });

  it('that the store says nothing about is waited for no longer than it is wanted', async () => {
    const clock = fakeClock();
    const log = memoryLog();
    const { promise } = Promise.withResolvers<undefined>();
    const store: StateStore = { read: () => promise, write: async () => {} };
    const document = new KeptDocument({ name: 'x', store, clock, log, quietMs: 0 });
    const wanted = new AbortController();
    const read = document.read(wanted.signal);
    const ended = expect(read).rejects.toThrow(Cancelled);
    wanted.abort();
    await clock.advance(1_000);
    await ended;
    expect(document.unread).toBeUndefined();
    expect(log.records).toEqual([]);
  });

  it('says once that it cannot be read, and once that it can', async () => {
    const { document, clock, log, state } = stage();
    state.failing = 4;
    const read = document.read(signal);
    await clock.advance(60_000);
    await read;
    const levels = log.records.map(({ level }) => level);
    expect(levels).toEqual(['warn', 'debug', 'debug', 'debug', 'info']);
  });

  it('without a store is nothing', async () => {
    const document = new KeptDocument({
      name: 'x',
      store: undefined,
      clock: fakeClock(),
      log: memoryLog(),
      quietMs: 0,
    });
    document.put(() => {
      throw new Error('nobody asks');
    });
    expect(await document.read(signal)).toBeUndefined();
    await document.close();
  });
});
