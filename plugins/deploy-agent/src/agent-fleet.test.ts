import { fakeClock } from '@haptic/core/testing';
import { expect, test } from 'vitest';
import { AgentFleet, type FleetParts } from './agent-fleet.ts';

interface Session {
  readonly asked: Promise<void>;
  readonly state?: { readonly token: { readonly epoch: number } };
}

const never = new Promise<void>(() => undefined);
const answered = (epoch: number): Session => ({ asked: Promise.resolve(), state: { token: { epoch } } });
const silent: Session = { asked: never };

/** A process that is about to lead, and asks. */
function asking(sessions: readonly Session[], known: Promise<void> = Promise.resolve()) {
  const clock = fakeClock();
  const stop = new AbortController();
  const parts = { roster: { known, sessions }, clock, counts: () => true };
  let epoch: number | undefined;
  void new AgentFleet(parts as unknown as FleetParts)
    .highestEpoch(stop.signal)
    .then((highest) => (epoch = highest));
  return { clock, stop, epoch: () => epoch };
}

test('pods that have answered, or have not and will not, are not waited for', async () => {
  const one = asking([answered(3), { asked: Promise.resolve() }, answered(7)]);
  await one.clock.advance(0);
  expect(one.epoch()).toBe(7);
  expect(one.clock.sleepers).toBe(0);
});

test('a pod that says nothing holds up a hand-over for no longer than a part of its second', async () => {
  const one = asking([silent, answered(7), silent]);
  await one.clock.advance(250);
  expect(one.epoch()).toBeUndefined();
  await one.clock.advance(50);
  expect(one.epoch()).toBe(7);
});

test('which pods there are is waited for longer, since that is known at a hand-over', async () => {
  const known = Promise.withResolvers<void>();
  const sessions: Session[] = [];
  const one = asking(sessions, known.promise);
  await one.clock.advance(1_000);
  expect(one.epoch()).toBeUndefined();
  sessions.push(answered(5));
  known.resolve();
  await one.clock.advance(0);
  expect(one.epoch()).toBe(5);

  const none = asking([], never);
  await none.clock.advance(2_000);
  expect(none.epoch()).toBe(0);
});

test('who does not want to know any more is let go', async () => {
  const one = asking([answered(2), silent]);
  await one.clock.advance(0);
  one.stop.abort();
  await one.clock.advance(0);
  expect(one.epoch()).toBe(2);
});
