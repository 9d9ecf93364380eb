import { expect, test } from 'vitest';
import { fakeClock } from '../testing/fake-clock.ts';
import { Outage } from './outage.ts';

test('each reason is news once, and again after a long time', async () => {
  const clock = fakeClock();
  const outage = new Outage(clock);
  const asked = (...reasons: readonly string[]): readonly boolean[] =>
    reasons.map((reason) => outage.isNews(reason));
  expect(asked('403', '403', 'away', '403', 'away')).toEqual([true, false, true, false, false]);
  await clock.advance(599_999);
  expect(asked('403', 'away')).toEqual([false, false]);
  await clock.advance(1);
  expect(asked('403', '403')).toEqual([true, false]);
});

test('its end is told where its begin was, and what comes after it is news', async () => {
  const clock = fakeClock();
  const outage = new Outage(clock);
  expect(outage.end()).toBeUndefined();
  outage.isNews('403');
  await clock.advance(600_000);
  outage.isNews('403');
  expect([outage.isTold, outage.end(), outage.isTold, outage.end()]).toEqual([
    true,
    600_000,
    false,
    undefined,
  ]);
  expect(outage.isNews('403')).toBe(true);
});
