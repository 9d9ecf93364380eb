import { fakeClock } from '@haptic/core/testing';
import { describe, expect, test } from 'vitest';
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

describe('what is rendered for', () => {
  const place = (base: string) => ({ base, workerSocket: `${base}/worker.sock` });
  const knowing = (version: string, base: string, answers: boolean) => ({
    version,
    paths: place(base),
    ...(answers && { state: {} }),
  });
  const factsOf = (roster: { sessions: readonly object[] }): AgentFleet =>
    new AgentFleet({ roster } as unknown as FleetParts);

  test('pods that are silent or gone are what they were when they answered last', () => {
    const roster = { sessions: [knowing('3.2.1', '/pod', true)] as object[] };
    const fleet = factsOf(roster);
    const then = { paths: place('/pod'), haproxyVersion: '3.2.1' };
    expect(fleet.facts()).toEqual(then);
    roster.sessions = [knowing('3.2.1', '/pod', false)];
    expect(fleet.facts()).toEqual(then);
    roster.sessions = [];
    expect(fleet.facts()).toEqual(then);
    roster.sessions = [{ version: undefined, paths: undefined }];
    expect(fleet.facts()).toEqual(then);
  });

  test('the oldest HAProxy decides, whether it answers now or not, and paths of a pod that answers', () => {
    const sessions = [knowing('3.2.9', '/old', false), knowing('3.10.0', '/new', true)];
    expect(factsOf({ sessions }).facts()).toEqual({ paths: place('/new'), haproxyVersion: '3.2.9' });
  });

  test('nothing is known of pods before one has answered', () => {
    expect(factsOf({ sessions: [{ version: undefined, paths: undefined }] }).facts()).not.toHaveProperty(
      'haproxyVersion',
    );
  });
});
