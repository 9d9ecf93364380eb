import { join } from 'node:path';
import {
  CONTROLLER,
  definePlugin,
  FLEET,
  TERM,
  z,
  type ControllerAccess,
  type ControllerStatus,
  type DeployMode,
  type Fleet,
  type Hooks,
  type Outcome,
  type Pod,
  type RenderPlan,
  type StoreView,
  type Term,
} from '@haptic/core/contract';
import { controllerRules, createHooks, Host, offer } from '@haptic/core/host';
import { fakeClock, memoryLog, pluginContract } from '@haptic/core/testing';
import { scrapeProblems } from '@haptic/prometheus/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import metrics from './index.ts';

interface World {
  readonly hooks: Hooks;
  readonly port: number;
  status: ControllerStatus;
  pods: readonly Pod[];
  term: Term | undefined;
  readonly scrape: () => Promise<string>;
  /** Of one series; undefined where there is none. */
  readonly value: (series: string) => Promise<number | undefined>;
}

const free = { host: '127.0.0.1', port: 0 };
const always = new AbortController().signal;

function services(state: Pick<World, 'status' | 'pods' | 'term'>) {
  const access: Partial<ControllerAccess> = { status: () => state.status };
  const fleet: Partial<Fleet> = { pods: () => state.pods };
  const terms = { current: () => state.term! };
  return [
    offer(CONTROLLER, access as ControllerAccess),
    offer(FLEET, fleet as Fleet),
    ...(state.term === undefined ? [] : [offer(TERM, terms as never)]),
  ];
}

/** A judge that takes a while. */
function slowJudge(clock: ReturnType<typeof fakeClock>) {
  return definePlugin({
    name: 'slow',
    apiVersion: 1,
    options: z.strictObject({}),
    judge: 'external',
    setup({ name, hooks }) {
      hooks.validate.tapPromise(name, () => clock.advance(40));
    },
  });
}

async function world(start: Partial<Pick<World, 'status' | 'pods' | 'term'>> = {}): Promise<World> {
  const state = { status: { phase: 'idle' } as ControllerStatus, pods: [], term: undefined, ...start };
  const clock = fakeClock();
  const hooks = createHooks();
  let port = 0;
  const onListening = (bound: { readonly port: number }): void => void (port = bound.port);
  const { observers, deadlines } = controllerRules;
  const host = await Host.start({
    hooks,
    observers,
    deadlines,
    clock,
    log: memoryLog(),
    services: services(state),
    plugins: [{ plugin: metrics, options: { ...free, onListening } }, { plugin: slowJudge(clock) }],
  });
  onTestFinished(() => host.close());
  const scrape = async (): Promise<string> => await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const value = async (series: string): Promise<number | undefined> => {
    const line = (await scrape()).split('\n').find((text) => text.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length));
  };
  return Object.assign(state, { hooks, port, scrape, value });
}

function plan(id: string): RenderPlan {
  return {
    id,
    releaseId: `release-${id}`,
    profiles: { 'http-1': {}, 'http-2': {} },
  } as unknown as RenderPlan;
}

function pod(name: string, baseline?: RenderPlan): Pod {
  return { name, ops: [], ...(baseline && { baseline }) };
}

function took(name: string, result: Outcome['result'] = 'reload', reasons: readonly string[] = []): Outcome {
  return { pod: name, result, reasons, durationMs: 250 };
}

function view(counts: Readonly<Record<string, number>>): StoreView {
  const watch = (name: string) => ({ list: () => Array.from({ length: counts[name]! }) });
  return { watches: Object.keys(counts), watch } as unknown as StoreView;
}

function applied(here: World, of: RenderPlan, outcomes: readonly Outcome[], sinceChangeMs = 300): void {
  here.hooks.applied.call(of, outcomes, { durationMs: 250, changes: [], sinceChangeMs });
}

describe('the plugin', () => {
  for (const { name, run } of pluginContract(metrics, {
    options: free,
    services: () => services({ status: { phase: 'idle' }, pods: [], term: undefined }),
  })) {
    test(name, run);
  }

  test('answers from the start, and only /metrics', async () => {
    const here = await world();
    const response = await fetch(`http://127.0.0.1:${here.port}/metrics`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(scrapeProblems(await response.text())).toEqual([]);
    const other = await fetch(`http://127.0.0.1:${here.port}/`);
    expect([other.status, await other.json()]).toEqual([
      404,
      { error: 'no such page: /; there is /metrics' },
    ]);
  });
});

test('a whole life is what the golden scrape says', async () => {
  const one = plan('one');
  const here = await world({ term: { leader: true, epoch: 1, signal: always } });
  const { hooks } = here;
  hooks.leadership.call({ leader: true, epoch: 1 });
  hooks.configRejected.call(new Error('x'), { reason: 'LibraryMissing' });
  hooks.configAccepted.call({} as never, undefined);
  hooks.rendered.call(one, { durationMs: 20, caller: 'reconcile' });
  await judge(here);
  hooks.judged.call(one, { kind: 'passed', findings: [] }, { durationMs: 40, caller: 'reconcile' });
  hooks.rendered.call(plan('asked'), { durationMs: 20, caller: 'admission' });
  hooks.judged.call(plan('asked'), { kind: 'passed', findings: [] }, { durationMs: 40, caller: 'admission' });
  hooks.refused.call({ stage: 'render', error: new Error('x') });
  here.pods = [pod('a', one), pod('b', one)];
  applied(here, one, [took('a', 'reload', ['skew:op dance']), took('b', 'runtime')]);
  applied(here, one, [took('a', 'rejected')]);
  here.status = {
    phase: 'serving',
    plan: one,
    dispatched: 'one',
    gate: { state: 'latched', reason: 'refused', since: 0, pending: [] },
    input: { view: view({ ingresses: 3, services: 0 }) } as never,
  };
  const scrape = await here.scrape();
  expect(scrapeProblems(scrape)).toEqual([]);
  // `npx vitest run plugins/metrics -u` writes it anew.
  await expect(scrape).toMatchFileSnapshot(join(import.meta.dirname, 'testing/golden-scrape.txt'));
});

/** Asks the external judge, which looks at nothing. */
async function judge({ hooks }: World): Promise<void> {
  const ledger = { open: () => ({ collector: {}, finish() {}, fail() {} }) };
  const context = { signal: always, caller: 'reconcile' } as const;
  await hooks.validate.for('external').promise({} as never, ledger as never, context);
}

describe('reconciles', () => {
  test('take as long as the render and its judges, whenever these answer', async () => {
    const here = await world();
    const [one, two] = [plan('one'), plan('two')];
    here.hooks.rendered.call(one, { durationMs: 100, caller: 'reconcile' });
    here.hooks.rendered.call(two, { durationMs: 1, caller: 'reconcile' });
    here.hooks.judged.call(one, { kind: 'refused', findings: [] }, { durationMs: 400, caller: 'reconcile' });
    here.hooks.refused.call({ stage: 'validate', plan: one, verdict: { kind: 'refused', findings: [] } });
    expect(await here.value('haptic_reconciliation_total')).toBe(2);
    expect(await here.value('haptic_reconciliation_duration_seconds_sum')).toBe(0.5);
    expect(await here.value('haptic_reconciliation_errors_total')).toBe(1);
    expect(await here.value('haptic_render_errors_total')).toBe(0);
  });
});

describe('pods', () => {
  test('take their series with them, and come back with new ones', async () => {
    const here = await world({ pods: [pod('a'), pod('b')] });
    applied(here, plan('one'), [took('a'), took('b', 'rejected')]);
    expect(await here.value('haptic_deploy_apply_total{pod="a",mode="reload"}')).toBe(1);
    expect(await here.value('haptic_apply_rejected_total{pod="a"}')).toBe(0);
    expect(await here.value('haptic_apply_rejected_total{pod="b"}')).toBe(1);
    here.pods = [pod('b')];
    expect(await here.scrape()).not.toContain('pod="a"');
    here.pods = [pod('a'), pod('b')];
    expect(await here.scrape()).not.toContain('pod="a"');
    applied(here, plan('two'), [took('a')]);
    expect(await here.value('haptic_deploy_apply_total{pod="a",mode="reload"}')).toBe(1);
  });

  test('that went while they were awaited leave nothing', async () => {
    const here = await world({ pods: [pod('a')] });
    here.pods = [];
    applied(here, plan('one'), [took('a', 'unreachable')]);
    expect(await here.scrape()).not.toContain('pod="a"');
  });

  test('a thousand of them that come and go leave no more than those that are there', async () => {
    const here = await world();
    const modes: readonly DeployMode[] = ['noop', 'runtime', 'file_only', 'reload'];
    for (let index = 0; index < 1_000; index++) {
      here.pods = [pod(`pod-${index}`)];
      applied(here, plan(`plan-${index}`), [took(`pod-${index}`, modes[index % 4])]);
      if (index % 100 === 0) await here.scrape();
    }
    expect((await here.scrape()).split('\n').filter((line) => line.includes('pod="'))).toHaveLength(2);
  });
});

describe('propagation', () => {
  const count = 'haptic_propagation_seconds_count';

  test('is told when the last pod runs a plan, once', async () => {
    const here = await world({ pods: [pod('a'), pod('b')] });
    const [one, two] = [plan('one'), plan('two')];
    applied(here, one, [took('a'), took('b', 'unreachable')]);
    expect(await here.value(count)).toBeUndefined();
    here.pods = [pod('a', one), pod('b')];
    applied(here, one, [took('b')], 2_000);
    expect(await here.value('haptic_propagation_seconds_sum')).toBe(2);
    // One that joins later does not make the change slower.
    here.pods = [pod('a', one), pod('b', one), pod('c')];
    applied(here, one, [took('c')], 900_000);
    expect(await here.value(count)).toBe(1);
    applied(here, two, [took('a'), took('b', 'runtime'), took('c', 'noop')]);
    expect(await here.value(count)).toBe(2);
  });

  test.each(['scheduled', 'held', 'rejected', 'unreachable'] as const)(
    'is not there for a pod whose plan is %s',
    async (result) => {
      const here = await world({ pods: [pod('a'), pod('b')] });
      applied(here, plan('one'), [took('a'), took('b', result)]);
      expect(await here.value(count)).toBeUndefined();
    },
  );
});

describe('states', () => {
  test('the fleet has converged when every pod runs what is to be run', async () => {
    const one = plan('one');
    const here = await world({ pods: [pod('a', one), pod('b', plan('other'))] });
    expect(await here.value('haptic_fleet_converged')).toBe(0);
    here.status = { phase: 'serving', dispatched: 'one' };
    expect(await here.value('haptic_fleet_size')).toBe(2);
    expect(await here.value('haptic_fleet_converged')).toBe(0);
    here.pods = [pod('a', one), pod('b', one)];
    expect(await here.value('haptic_fleet_converged')).toBe(1);
    here.pods = [pod('a', one), pod('b')];
    expect(await here.value('haptic_fleet_converged')).toBe(0);
  });

  test('of what goes out are told by who leads alone', async () => {
    const leads = { leader: true, epoch: 1, signal: always };
    const here = await world({ pods: [pod('a', plan('two'))], term: leads });
    here.status = {
      phase: 'serving',
      dispatched: 'one',
      plan: plan('one'),
      input: { view: view({ ingresses: 3 }) } as never,
    };
    const told = async (): Promise<readonly (number | undefined)[]> => [
      await here.value('haptic_fleet_converged'),
      await here.value('haptic_profiles'),
      await here.value('haptic_resources{watch="ingresses"}'),
    ];
    expect(await told()).toEqual([0, 2, 3]);
    here.term = { leader: false, epoch: 0, signal: always };
    expect(await told()).toEqual([undefined, undefined, undefined]);
    expect(await here.value('haptic_fleet_size')).toBe(1);
  });

  test('watches that are no more have no count', async () => {
    const here = await world();
    here.status = { phase: 'serving', input: { view: view({ ingresses: 3, old: 1 }) } as never };
    expect(await here.value('haptic_resources{watch="ingresses"}')).toBe(3);
    here.status = { phase: 'serving', input: { view: view({ ingresses: 2 }) } as never };
    expect(await here.value('haptic_resources{watch="ingresses"}')).toBe(2);
    expect(await here.scrape()).not.toContain('watch="old"');
  });

  test('the configuration is held, refused or valid, one of them', async () => {
    const here = await world();
    const reason = async (): Promise<readonly string[]> =>
      [...(await here.scrape()).matchAll(/haptic_config_validated\{reason="(\w+)"\} 1/g)].map(
        ([, name]) => name!,
      );
    expect(await reason()).toEqual([]);
    here.hooks.configRejected.call(new Error('x'), { reason: 'RevisionMismatch' });
    expect([await reason(), await here.value('haptic_config_held')]).toEqual([['RevisionMismatch'], 1]);
    here.hooks.configRejected.call(new Error('x'), { reason: 'LoadGateFailed' });
    expect([await reason(), await here.value('haptic_config_held')]).toEqual([['LoadGateFailed'], 0]);
    here.hooks.configAccepted.call({} as never, undefined);
    expect([await reason(), await here.value('haptic_config_held')]).toEqual([['ValidationSucceeded'], 0]);
    expect(await here.value('haptic_config_rejected_total{reason="LoadGateFailed"}')).toBe(1);
  });

  test('a term that goes on with another epoch is no transition', async () => {
    const here = await world({ term: { leader: false, epoch: 0, signal: always } });
    expect(await here.value('haptic_leader_is_leader')).toBe(0);
    for (const epoch of [1, 2]) here.hooks.leadership.call({ leader: true, epoch });
    here.hooks.leadership.call({ leader: false, epoch: 2 });
    here.term = { leader: true, epoch: 3, signal: always };
    expect(await here.value('haptic_leader_transitions_total')).toBe(2);
    expect(await here.value('haptic_leader_is_leader')).toBe(1);
  });
});

test('plugins have a duration and errors for each of their hooks, and no other series', async () => {
  const here = await world();
  for (let index = 0; index < 50; index++) {
    await judge(here);
    here.hooks.configAccepted.call({} as never, undefined);
  }
  const counts = (await here.scrape())
    .split('\n')
    .filter((line) => line.startsWith('haptic_plugin_hook_duration_seconds_count'));
  expect(counts).toEqual([
    'haptic_plugin_hook_duration_seconds_count{plugin="slow",hook="validate:external"} 50',
    'haptic_plugin_hook_duration_seconds_count{plugin="metrics",hook="configAccepted"} 50',
  ]);
  expect(await here.value('haptic_validation_duration_seconds_count{judge="slow"}')).toBe(50);
});
