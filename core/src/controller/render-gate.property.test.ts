import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { OPERATION_NAMES, type Deployment, type Outcome, type Pod } from '../contract/index.ts';
import { controllerRig, ingress, type Rig } from '../testing/controller-rig.ts';

const RUNS = process.env['HAPTIC_SOAK'] === '1' ? 5_000 : 60;
const NAMES = ['good-1', 'good-2', 'good-3', 'bad-1', 'bad-2'] as const;

type Step =
  | { readonly kind: 'put' | 'delete'; readonly name: string }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'judge'; readonly answers: boolean; readonly ms: number }
  | { readonly kind: 'pod'; readonly answers: boolean }
  | { readonly kind: 'term' };

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('put' as const), name: fc.constantFrom(...NAMES) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('delete' as const), name: fc.constantFrom(...NAMES) }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(400) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('judge' as const),
      answers: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.boolean()),
      ms: fc.nat(300),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pod' as const), answers: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('term' as const) }) },
);

const pod = (name: string): Pod => ({ name, ops: OPERATION_NAMES, haproxyVersion: '3.4.7' });

/** What was seen while a sequence ran. */
interface Watched {
  readonly passed: Set<string>;
  /** Rules that were broken. */
  readonly offences: string[];
  mode: { answers: boolean; ms: number };
  away: ReadonlySet<string>;
}

function watch(rig: Omit<Rig, 'controller'>, status: () => ReturnType<Rig['controller']['status']>): Watched {
  const seen: Watched = {
    passed: new Set(),
    offences: [],
    mode: { answers: true, ms: 0 },
    away: new Set(),
  };
  rig.judge = async ({ rendered: { plan } }, findings, signal) => {
    const { answers, ms } = seen.mode;
    await rig.clock.sleep(ms, signal);
    if (!answers) return findings.unanswered('haproxy', 'away');
    const bad = Object.keys(plan.backends).find((name) => name.startsWith('bad'));
    if (bad === undefined) seen.passed.add(plan.id);
    if (bad !== undefined) findings.add({ severity: 'error', message: `no ${bad}` });
  };
  rig.fleet.deploy = async (deployment, outcomes) => {
    check(deployment, seen, { ...status(), verdicts: rig.verdicts });
    for (const { pod, reasons } of deployment.plans)
      if (seen.away.has(pod)) outcomes.add({ pod, result: 'unreachable', reasons, durationMs: 1 });
    rig.fleet.take(
      deployment,
      outcomes,
      deployment.plans.map((plan) => plan.pod).filter((name) => !seen.away.has(name)),
    );
  };
  rig.fleet.revert = async (plan): Promise<readonly Outcome[]> => {
    // A pod that is away answers later, and goes back then.
    rig.fleet.pods = rig.fleet.pods.map((one) => {
      if (one.applied !== plan || one.loaded === plan) return one;
      const { baseline: _, ...rest } = one;
      return { ...rest, applied: one.loaded ?? 'bootstrap' };
    });
    return [];
  };
  return seen;
}

function check(
  { rendered: { plan }, validated }: Deployment,
  { passed, offences }: Watched,
  { gate, verdicts }: ReturnType<Rig['controller']['status']> & Pick<Rig, 'verdicts'>,
): void {
  const refused = new Set(verdicts.flatMap(({ kind, planId }) => (kind === 'refused' ? planId : [])));
  if (validated && !passed.has(plan.id))
    offences.push(`a plan is called validated that HAProxy did not pass`);
  if (refused.has(plan.id)) offences.push(`a plan goes out that HAProxy has refused`);
  if (!validated && gate?.state === 'latched' && gate.reason === 'refused')
    offences.push(`an unjudged plan goes out while the gate is latched`);
}

async function run(rig: Rig, seen: Watched, steps: readonly Step[]): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const sink = rig.source.watching.at(-1)!.sink;
  let epoch = 1;
  let version = 0;
  for (const one of steps) {
    if (one.kind === 'put') {
      names.add(one.name);
      rig.source.put('ingresses', ingress(one.name, { version: ++version }));
    } else if (one.kind === 'delete') {
      names.delete(one.name);
      sink.apply('ingresses', { upserts: [], deletes: [{ namespace: 'ns', name: one.name }] });
    } else if (one.kind === 'wait') await rig.clock.advance(one.ms);
    else if (one.kind === 'judge') seen.mode = one;
    else if (one.kind === 'pod') seen.away = new Set(one.answers ? [] : ['b']);
    else if (one.kind === 'term') {
      rig.term.current = { leader: true, epoch: ++epoch, signal: new AbortController().signal };
      rig.controller.host.hooks.leadership.call({ leader: true, epoch });
    }
    await rig.settle();
    for (const { plan } of rig.released)
      if (!seen.passed.has(plan.id)) seen.offences.push('a plan is released that HAProxy did not pass');
  }
  return names;
}

it('whatever happens, nothing refused stays out, and all that is good is served in the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      let seen: Watched | undefined;
      let status: () => ReturnType<Rig['controller']['status']> = () => ({ phase: 'idle' });
      await using rig = await controllerRig((starting) => {
        starting.fleet.pods = ['a', 'b'].map(pod);
        seen = watch(starting, () => status());
      });
      status = () => rig.controller.status();
      const names = await run(rig, seen!, steps);
      seen!.mode = { answers: true, ms: 0 };
      seen!.away = new Set();
      for (let minute = 0; minute < 60; minute++) {
        await rig.clock.advance(60_000);
        await rig.settle();
      }
      expect(seen!.offences).toEqual([]);
      const { gate, plan, dispatched, quarantine, problem } = rig.controller.status();
      const good = [...names].filter((name) => name.startsWith('good')).sort();
      expect(Object.keys(plan!.backends).sort()).toEqual(good);
      expect(quarantine!.map(({ object }) => object.name).sort()).toEqual(
        [...names].filter((name) => name.startsWith('bad')).sort(),
      );
      expect({ gate, dispatched, problem }).toEqual({
        gate: { state: 'open', pending: [] },
        dispatched: plan!.id,
        problem: undefined,
      });
      expect(rig.fleet.pods.map(({ applied }) => applied)).toEqual([plan!.id, plan!.id]);
    }),
    {
      numRuns: RUNS,
      // No verdict on what was superseded by something that was judged.
      examples: [
        [
          [
            { kind: 'wait', ms: 0 },
            { kind: 'judge', answers: false, ms: 51 },
            { kind: 'put', name: 'bad-1' },
            { kind: 'delete', name: 'bad-1' },
          ],
        ],
      ],
    },
  );
}, 600_000);
