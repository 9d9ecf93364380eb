import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { StateStore } from '@haptic/core/contract';
import { memoryLog } from '@haptic/core/testing';
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
      const kept = new KeptContents(store, memoryLog());
      kept.keep(new Map([['https://a/', 'first']]));
      write.resolve();
      for (let passed = 0; passed < turns; passed++) await Promise.resolve();
      kept.keep(new Map([['https://a/', 'second']]));
      await turn();
      expect(written.at(-1), `after ${turns} turns`).toContain('second');
      await kept.close();
    }
  });
});
