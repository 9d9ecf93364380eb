import { describe, expect, it } from 'vitest';
import {
  Cancelled,
  Refused,
  RESOURCE_SOURCE,
  Retry,
  JUDGE_BINARY,
  type Contents,
  type ContentSource,
  type JudgeKind,
  type RenderInput,
} from '../contract/index.ts';
import { Quarantine, SecurityFieldsOfKinds } from '../quarantine/index.ts';
import { controllerRig, ingress, rigSpec, type JudgeRun, type Rig } from '../testing/controller-rig.ts';
import { passLoadGate } from './load-gate.ts';
import { Promotion } from './promotion.ts';
import { sha256 } from './sha256.ts';
import { Watching } from './watching.ts';

/** What one judge does, in every run, from the moment on when the caller asks. */
const EVENTS = ['pass', 'refuse', 'warn', 'throw', 'hang', 'abort', 'term lost'] as const;
type Event = (typeof EVENTS)[number];

type Outcome =
  /** Success, for everybody to see. */
  | 'published'
  /** Failure, with the words of the judge. */
  | 'refused'
  /** Neither: it is tried again, or whoever asked is told that there is no answer. */
  | 'no verdict'
  /** Neither, and nobody is told anything: the answer is not wanted any more. */
  | 'nothing'
  /** It went out; nothing that moves with it is released, and it was not taken back. */
  | 'out, unreleased'
  /** It went out, and was taken back. */
  | 'taken back';

type Row = readonly [Outcome, Outcome, Outcome, Outcome, Outcome, Outcome, Outcome];

/** In the order of EVENTS. */
const SYNCHRONOUS: Row = [
  'published',
  'refused',
  'published',
  'no verdict',
  'no verdict',
  'nothing',
  'published',
];
const OF_A_TERM: Row = [
  'published',
  'refused',
  'published',
  'no verdict',
  'no verdict',
  'nothing',
  'nothing',
];

interface Scene {
  readonly rig: Rig;
  /** Begins to misbehave. */
  readonly arm: () => void;
  /** Aborts when the event is to call the work off. */
  readonly signal: AbortSignal;
  /** Goes when nothing hangs any more. */
  readonly later: AsyncDisposableStack;
}

interface CallerRows {
  readonly haproxy: Row;
  readonly others: Row;
  readonly ask: (scene: Scene) => Promise<Outcome>;
}

const TABLE: Readonly<Record<string, CallerRows>> = {
  'reconcile, gate open': {
    haproxy: [
      'published',
      'taken back',
      'published',
      'out, unreleased',
      'out, unreleased',
      'out, unreleased',
      'out, unreleased',
    ],
    others: OF_A_TERM,
    ask: reconcile,
  },
  'reconcile, latched': {
    haproxy: OF_A_TERM,
    others: OF_A_TERM,
    async ask(scene) {
      latch(scene.rig);
      return await reconcile(scene);
    },
  },
  admission: { haproxy: SYNCHRONOUS, others: SYNCHRONOUS, ask: admission },
  'load gate': { haproxy: SYNCHRONOUS, others: SYNCHRONOUS, ask: loadGate },
  'live gate': { haproxy: SYNCHRONOUS, others: SYNCHRONOUS, ask: liveGate },
  promotion: { haproxy: OF_A_TERM, others: OF_A_TERM, ask: promotion },
  preflight: { haproxy: SYNCHRONOUS, others: SYNCHRONOUS, ask: preflight },
  // A test without an answer has failed.
  validate: {
    haproxy: ['published', 'refused', 'published', 'refused', 'refused', 'nothing', 'published'],
    others: ['published', 'refused', 'published', 'refused', 'refused', 'nothing', 'published'],
    ask: validate,
  },
};

const cases = Object.entries(TABLE).flatMap(([caller, { haproxy, others, ask }]) =>
  (['haproxy', 'external', 'custom'] as const).flatMap((kind) =>
    EVENTS.map((event, index) => ({
      caller,
      kind,
      event,
      ask,
      wanted: (kind === 'haproxy' ? haproxy : others)[index]!,
    })),
  ),
);

const PROPERTY = { haproxy: 'judge', external: 'external', custom: 'custom' } as const;

describe.each(Object.keys(TABLE))('%s', (caller) => {
  it.each(cases.filter((one) => one.caller === caller))(
    'a judge of kind $kind that is to $event: $wanted',
    async ({ kind, event, ask, wanted }) => {
      const off = new AbortController();
      const { promise: hung, resolve: unhang } = Promise.withResolvers<void>();
      const asked = new Set<JudgeKind>();
      let isArmed = false;
      await using rig = await controllerRig(({ source }) => {
        source.spec = configuration('first');
        source.objects['ingresses'] = [ingress('one')];
      });
      const ending = new AbortController();
      rig.term.current = { leader: true, epoch: 1, signal: ending.signal };
      const events = misbehaviours(
        hung,
        () => off.abort(),
        () => loseTerm(rig, ending),
      );
      for (const each of ['haproxy', 'external', 'custom'] as const) {
        rig[PROPERTY[each]] = async (...call) => {
          if (!isArmed) return;
          asked.add(each);
          if (each === kind) await events[event](...call);
        };
      }
      // The first render of this term.
      rig.source.put('slices', { ...ingress('slice'), kind: 'EndpointSlice' });
      await rig.settle();
      const later = new AsyncDisposableStack();
      try {
        const arm = (): void => void (isArmed = true);
        const outcome = await ask({ rig, arm, signal: off.signal, later });
        expect(outcome).toBe(wanted);
        const isOff = wanted === 'nothing' || event === 'abort' || event === 'term lost';
        if (!isOff || outcome === 'published')
          expect([...asked].sort()).toEqual(['custom', 'external', 'haproxy']);
      } finally {
        unhang();
        await later.disposeAsync();
      }
    },
  );
});

function misbehaviours(
  hung: Promise<void>,
  callOff: () => void,
  endTerm: () => void,
): Readonly<Record<Event, JudgeRun>> {
  return {
    pass: async () => {},
    refuse: async (_candidate, findings) => findings.add({ severity: 'error', message: 'no' }),
    warn: async (_candidate, findings) => findings.add({ severity: 'warning', message: 'hm' }),
    throw: async () => {
      throw new Error('the judge is broken');
    },
    hang: async () => await hung,
    abort: async () => callOff(),
    'term lost': async () => endTerm(),
  };
}

function configuration(template: string): object {
  const validationTests = { valid: { assertions: [{ type: 'haproxy_valid' }] } };
  return rigSpec(template, { validationTests });
}

function loseTerm(rig: Rig, ending: AbortController): void {
  rig.term.current = { leader: false, epoch: 1, signal: ending.signal };
  ending.abort();
}

/** Another term begins: its first render is judged before it goes out. */
function latch(rig: Rig): void {
  rig.term.current = { ...rig.term.current, epoch: 2 };
}

/** Lets time pass until everybody's patience is over, in steps that judge and back-off need. */
async function wait(rig: Rig, ms = 30_000): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5_000) {
    await rig.clock.advance(5_000);
    await rig.settle();
  }
}

async function reconcile({ rig, arm, signal }: Scene): Promise<Outcome> {
  const before = { out: rig.fleet.deployments.length, released: rig.released.length, told: rig.told.length };
  await rig.clock.advance(50);
  arm();
  signal.addEventListener('abort', () => void rig.stop());
  rig.source.put('ingresses', ingress('two'));
  await rig.settle();
  // Not longer than a judge may take: what goes on then is another try.
  await rig.clock.advance(10_000);
  await rig.settle();
  const told = rig.told.slice(before.told);
  const isOut = rig.fleet.deployments
    .slice(before.out)
    .some(({ rendered }) => 'two' in rendered.plan.backends);
  const isReleased = rig.released.slice(before.released).some(({ plan }) => 'two' in plan.backends);
  if (isReleased) return 'published';
  if (rig.fleet.reverts.length > 0) return 'taken back';
  if (isOut) return 'out, unreleased';
  if (told.some((line) => line.startsWith('refused'))) return 'refused';
  const isTriedAgain = rig.controller.status().problem instanceof Retry;
  expect(told.filter((line) => !line.startsWith('rendered'))).toEqual([]);
  return isTriedAgain ? 'no verdict' : 'nothing';
}

function failure(error: unknown): Outcome {
  if (error instanceof Cancelled) return 'nothing';
  if (error instanceof Refused) return 'refused';
  if (error instanceof Retry) return 'no verdict';
  throw error;
}

/** Waits for an answer while time passes. */
async function answer(rig: Rig, asking: Promise<Outcome>): Promise<Outcome> {
  const answers: Outcome[] = [];
  void asking.then((outcome) => answers.push(outcome)).catch(() => {});
  for (let tries = 0; answers.length === 0 && tries < 20; tries++) {
    await rig.clock.advance(5_000);
    await rig.settle();
  }
  return await asking;
}

async function admission({ rig, arm, signal }: Scene): Promise<Outcome> {
  arm();
  const object = ingress('two');
  const asking = rig.controller
    .judgeProposal({ watch: 'ingresses', object }, signal)
    .then((answer): Outcome => (answer.allowed ? 'published' : failure(answer.error)), failure);
  return await answer(rig, asking);
}

async function liveGate({ rig, arm, signal }: Scene): Promise<Outcome> {
  arm();
  signal.addEventListener('abort', () => void rig.stop());
  const before = rig.told.length;
  rig.source.spec = configuration('second');
  rig.source.changed();
  await rig.clock.advance(500);
  await rig.settle();
  await wait(rig, 20_000);
  const told = rig.told.slice(before);
  expect(rig.controller.status().config?.haproxyConfig.template).toBe(
    told.includes('accepted second') ? 'second' : 'first',
  );
  if (told.includes('accepted second')) return 'published';
  return unaccepted(rig, told);
}

function unaccepted(rig: Rig, told: readonly string[]): Outcome {
  if (told.some((line) => line.startsWith('rejected'))) return 'refused';
  return rig.controller.status().problem instanceof Retry ? 'no verdict' : 'nothing';
}

/** As at a start, over a rig of its own that begins with this judge. */
async function loadGate({ rig, arm, signal, later }: Scene): Promise<Outcome> {
  arm();
  const starting = await controllerRig((next) => {
    next.source.spec = configuration('first');
    next.source.objects['ingresses'] = [ingress('one')];
    next.judge = rig.judge;
    next.external = rig.external;
    next.custom = rig.custom;
    signal.addEventListener('abort', () => void next.stop());
  });
  later.use(starting);
  await wait(starting, 20_000);
  expect(starting.fleet.deployments.length > 0).toBe(starting.told.includes('accepted first'));
  if (starting.told.includes('accepted first')) return 'published';
  return unaccepted(starting, starting.told);
}

async function preflight({ rig, arm, signal }: Scene): Promise<Outcome> {
  arm();
  const { pipeline, host } = rig.controller;
  const context = { signal, caller: 'preflight' } as const;
  const merged = { ...pipeline.merge(await pipeline.load(context)), validationTests: {} };
  const watching = new Watching(host.use(RESOURCE_SOURCE), merged.watchedResources, rig.log);
  const quarantine = new Quarantine({
    hash: sha256,
    clock: rig.clock,
    log: rig.log,
    security: new SecurityFieldsOfKinds(),
    store: undefined,
    onChange() {},
  });
  const parts = {
    pipeline,
    hooks: host.hooks,
    judge: host.use(JUDGE_BINARY),
    clock: rig.clock,
    promotion: new Promotion(undefined, rig.clock),
    quarantine,
  };
  const { fleet } = rig.controller.status().input!;
  const asking = passLoadGate(parts, { merged, watching }, { fleet }, context).then(
    (): Outcome => 'published',
    failure,
  );
  return await answer(rig, asking).finally(() => watching.stop());
}

async function validate({ rig, arm, signal }: Scene): Promise<Outcome> {
  arm();
  const asking = rig.controller
    .validate(signal)
    .then(({ report }): Outcome => (report.failed > 0 ? 'refused' : 'published'), failure);
  return await answer(rig, asking);
}

/** A source with one content that nobody has judged. */
function contentSource(): ContentSource & { isAccepted: boolean; isRefused: boolean } {
  const pending: Contents = new Map([['list', 'text']]);
  return {
    isAccepted: false,
    isRefused: false,
    accepted: () => new Map(),
    pending: () => pending,
    want() {},
    async attempted() {},
    accept() {
      this.isAccepted = true;
    },
    refuse() {
      this.isRefused = true;
    },
    reconsider() {},
    onPending: () => () => {},
  };
}

async function promotion({ rig, arm, signal }: Scene): Promise<Outcome> {
  const source = contentSource();
  const promotion = new Promotion(source, rig.clock);
  promotion.asks('serving', { requests: [{ key: 'list', options: {}, place: 'x:1:1' }] });
  const input: RenderInput = rig.controller.status().input!;
  const { pipeline } = rig.controller;
  arm();
  const term = rig.term.current.signal;
  const context = { signal: AbortSignal.any([signal, term]), caller: 'promotion' } as const;
  const asking = promotion
    .promote((contents) => {
      // Without the new content everybody is content again: it is to blame.
      return pipeline.evaluate({ ...input, contents }, context);
    })
    .then((promoted): Outcome => {
      if (source.isAccepted) return 'published';
      return promoted.kind === 'undecided' && promoted.reason instanceof Refused ? 'refused' : 'no verdict';
    }, failure);
  return await answer(rig, asking);
}
