import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

test('changes come one after the other, looks together, and never both', async () => {
  const turns = new Turns();
  const told: string[] = [];
  const [looked, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const looks = ['a', 'b'].map((name) =>
    turns.look(async () => {
      told.push(`look ${name}`);
      await looked.promise;
    }),
  );
  const first = turns.change(async () => {
    told.push('change 1');
    await changed.promise;
    throw new Error('refused');
  });
  const second = turns.change(() => Promise.resolve(told.push('change 2')));
  expect(await turns.look(() => Promise.resolve(told.push('look c')))).toBeUndefined();
  await turn();
  expect(told).toEqual(['look a', 'look b']);
  looked.resolve();
  await Promise.all(looks);
  await turn();
  expect(told.slice(2)).toEqual(['change 1']);
  expect(await turns.look(() => Promise.resolve(told.push('look d')))).toBeUndefined();
  changed.resolve();
  await expect(first).rejects.toThrow('refused');
  await second;
  expect(told.slice(3)).toEqual(['change 2']);
  await turn();
  expect(await turns.look(() => Promise.resolve('seen'))).toBe('seen');
});
