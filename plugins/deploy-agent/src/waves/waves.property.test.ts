import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Trial } from './wave-group.ts';
import { TURN_MS } from './reload-lane.ts';
import { Waves, type Entry } from './waves.ts';

type Going = Extract<Entry, { kind: 'go' }>;

interface Pod {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  isThere: boolean;
  runs: string | undefined;
  order: Going | undefined;
}

/** As a controller and its pods behave, one thing at a time. */
class Model {
  readonly pods: readonly Pod[];
  readonly waves: Waves;
  readonly size: number;
  /** Of pods that are watched. */
  readonly trials: { readonly version: string; readonly trial: Trial }[] = [];
  /** Plans that HAProxy refuses, with the pods that have found out. */
  readonly refusals = new Map<string, Set<string>>();
  #plan = { id: 'plan 0', loads: true, kinds: [] as readonly string[] };
  #plans = 0;
  #now = 0;

  constructor(versions: readonly string[], size: number) {
    this.size = size;
    this.pods = versions.map((version, index) => ({
      id: `p${index}`,
      name: `p${index}`,
      version,
      isThere: true,
      runs: undefined,
      order: undefined,
    }));
    this.waves = new Waves({
      now: () => this.#now,
      settings: () => ({ size, soak: 1_000 }),
      members: () => this.pods.filter(({ isThere }) => isThere),
      released: () => {},
    });
  }

  get plan(): string {
    return this.#plan.id;
  }

  want(loads: boolean, kind: string, isBad: boolean): void {
    this.#plans += 1;
    // What is of a known kind goes to all at once, so a bad one of these is bad luck.
    const kinds = loads ? [] : [isBad ? `bad ${this.#plans}` : kind];
    this.#plan = { id: `plan ${this.#plans}`, loads, kinds };
    if (isBad) this.refusals.set(this.#plan.id, new Set());
  }

  pass(ms: number): void {
    this.#now += ms;
    this.waves.recheck();
  }

  /** Sends the plan to whoever may have it. */
  send(pod: Pod): void {
    const { id, loads, kinds } = this.#plan;
    if (!pod.isThere || pod.order !== undefined || pod.runs === id || this.waves.heldPlan(pod.name) === id)
      return;
    const entry = this.waves.enter({ pod: pod.name, version: pod.version, planId: id, loads, kinds });
    if (entry.kind === 'held') return;
    pod.order = entry;
    const reloading = this.pods.filter(({ order }) => order?.order.loads).length;
    const members = this.pods.filter(({ isThere }) => isThere).length;
    // Those that left in the middle of theirs are not counted among the members.
    if (this.pods.every(({ isThere }) => isThere))
      expect(reloading).toBeLessThanOrEqual(Math.max(1, Math.min(this.size, members - 1)));
  }

  finish(pod: Pod, isReached: boolean): void {
    const { order } = pod;
    if (order === undefined) return;
    pod.order = undefined;
    const { planId } = order.order;
    const refused = this.refusals.get(planId);
    const result = !isReached || !pod.isThere ? 'unreachable' : refused !== undefined ? 'rejected' : 'reload';
    if (result === 'rejected') refused!.add(`${pod.version} ${pod.name}`);
    if (result === 'reload') pod.runs = planId;
    const trial = this.waves.ended(order, { result, stage: 'reload', message: 'no' });
    if (trial !== undefined) this.trials.push({ version: pod.version, trial });
  }

  watched(isSane: boolean): void {
    const watched = this.trials.shift();
    if (watched !== undefined) this.waves.watched(watched.version, watched.trial, isSane ? undefined : 'ill');
  }

  toggle(pod: Pod): void {
    pod.isThere = !pod.isThere;
    this.waves.recheck();
  }

  /** Everything goes well from now on. */
  settle(): void {
    for (const pod of this.pods) if (!pod.isThere) this.toggle(pod);
    this.want(true, '', false);
    for (let turn = 0; turn < 10 * this.pods.length; turn += 1) {
      for (const pod of this.pods) this.finish(pod, true);
      while (this.trials.length > 0) this.watched(true);
      for (const pod of this.pods) this.send(pod);
      this.pass(TURN_MS);
    }
  }
}

const versions = fc.array(fc.constantFrom('3.4', '3.0'), { minLength: 1, maxLength: 5 });
const at = fc.nat(4);
const steps = {
  want: fc.record({
    do: fc.constant('want' as const),
    loads: fc.boolean(),
    kind: fc.constantFrom('a', 'b'),
    bad: fc.boolean(),
  }),
  send: fc.record({ do: fc.constant('send' as const), pod: at }),
  sendAll: fc.record({ do: fc.constant('sendAll' as const) }),
  finish: fc.record({ do: fc.constant('finish' as const), pod: at, reached: fc.constant(true) }),
  lose: fc.record({ do: fc.constant('finish' as const), pod: at, reached: fc.constant(false) }),
  watch: fc.record({ do: fc.constant('watch' as const), sane: fc.boolean() }),
  toggle: fc.record({ do: fc.constant('toggle' as const), pod: at }),
  pass: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(TURN_MS) }),
};
const step = fc.oneof(...Object.values(steps));
/** Nobody leaves; most of it is sending and finishing. */
const calmStep = fc.oneof(
  { arbitrary: fc.oneof(steps.want, steps.send, steps.watch, steps.pass) as typeof step, weight: 4 },
  { arbitrary: fc.oneof(steps.sendAll, steps.finish) as typeof step, weight: 8 },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function take(model: Model, taken: Step): void {
  const pod = 'pod' in taken ? model.pods[taken.pod % model.pods.length]! : undefined;
  if (taken.do === 'want') model.want(taken.loads, taken.kind, taken.bad);
  else if (taken.do === 'send') model.send(pod!);
  else if (taken.do === 'sendAll') for (const each of model.pods) model.send(each);
  else if (taken.do === 'finish') model.finish(pod!, taken.reached);
  else if (taken.do === 'watch') model.watched(taken.sane);
  else if (taken.do === 'toggle') model.toggle(pod!);
  else model.pass(taken.ms);
}

test('whatever happens, never do all reload at once, and all get there in the end', () => {
  fc.assert(
    fc.property(
      versions,
      fc.integer({ min: 1, max: 3 }),
      fc.array(step, { maxLength: 60 }),
      (given, size, steps) => {
        const model = new Model(given, size);
        for (const taken of steps) take(model, taken);
        model.settle();
        expect(model.pods.map(({ runs }) => runs)).toEqual(model.pods.map(() => model.plan));
      },
    ),
    { numRuns: 2_000 },
  );
});

test('what a HAProxy refuses reaches one pod of each version, while nobody leaves', () => {
  fc.assert(
    fc.property(versions, fc.array(calmStep, { minLength: 20, maxLength: 80 }), (given, steps) => {
      const model = new Model(given, 1);
      for (const taken of steps) take(model, taken);
      for (const pods of model.refusals.values()) {
        const found = [...pods].map((words) => words.split(' ')[0]);
        expect(new Set(found).size, [...pods].join()).toBe(found.length);
      }
    }),
    { numRuns: 2_000 },
  );
});
