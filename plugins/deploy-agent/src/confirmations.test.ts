import { expect, test } from 'vitest';
import type { DeployPlan, Rendered } from '@haptic/core/contract';
import { fakeClock } from '@haptic/core/testing';
import { Confirmations } from './confirmations.ts';
import type { Order } from './order.ts';

const orderOf = (id: string): Order => ({
  plan: { pod: 'a' } as DeployPlan,
  rendered: { plan: { id } } as Rendered,
  validated: true,
});

function stage() {
  const clock = fakeClock();
  const sent: { readonly id: string; readonly at: number }[] = [];
  const answers = { heard: true };
  const confirmations = new Confirmations({
    clock,
    send: async ({ rendered }) => {
      sent.push({ id: rendered.plan.id, at: clock.now() });
      return answers.heard;
    },
  });
  const { signal } = new AbortController();
  return { clock, sent, answers, confirmations, add: (id: string) => confirmations.add(orderOf(id), signal) };
}

test('one a second, the newest, and the last one for certain', async () => {
  const { clock, sent, add } = stage();
  for (let count = 0; count < 30; count += 1) {
    add(`plan ${count}`);
    await clock.advance(100);
  }
  await clock.advance(2_000);
  expect(sent).toEqual([
    { id: 'plan 0', at: 0 },
    { id: 'plan 9', at: 1_000 },
    { id: 'plan 19', at: 2_000 },
    { id: 'plan 29', at: 3_000 },
  ]);
  expect(clock.sleepers).toBe(0);
});

test('a pod that does not answer hears of it when it does', async () => {
  const { clock, sent, answers, confirmations, add } = stage();
  answers.heard = false;
  add('one');
  await clock.advance(10_000);
  expect(sent).toHaveLength(1);
  answers.heard = true;
  confirmations.resume();
  await clock.advance(0);
  confirmations.resume();
  await clock.advance(2_000);
  expect(sent.map(({ id }) => id)).toEqual(['one', 'one']);
});

test('what nobody wants told any more is not', async () => {
  const { clock, sent, confirmations, add } = stage();
  add('one');
  await clock.advance(0);
  const term = new AbortController();
  confirmations.add(orderOf('two'), term.signal);
  await clock.advance(500);
  term.abort();
  await clock.advance(5_000);
  expect(sent.map(({ id }) => id)).toEqual(['one']);
});
