import {
  definePlugin,
  FLEET,
  z,
  type Finding,
  type Hooks,
  type Outcome,
  type Pod,
  type Rendered,
  type RenderPlan,
} from '@haptic/core/contract';
import { controllerRules, createHooks, Host } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { SERVED_ROUTES } from '@haptic/routing';
import { expect, it } from 'vitest';
import { reporterPlugin } from './reporter-plugin.ts';
import type { Reporter } from './reporter.ts';

/** Whom it looks on; here nobody ever serves anything. */
const fleet = definePlugin({
  name: 'deploy-agent',
  apiVersion: 1,
  options: z.strictObject({}),
  setup({ provide }) {
    const pods: readonly Pod[] = [];
    provide(FLEET, {
      pods: () => pods,
      facts: () => ({ paths: { base: '/', workerSocket: '/' }, haproxyVersion: '3.4.7' }),
      highestEpoch: async () => 0,
      onChange: () => () => undefined,
      revert: async () => [],
    });
  },
});
const routing = definePlugin({
  name: 'routing',
  apiVersion: 1,
  options: z.strictObject({}),
  setup: ({ provide }) => provide(SERVED_ROUTES, { list: () => [] }),
});

/** As much of a plan as one who looks on reads. */
function plan(id: string, ...messages: readonly string[]): RenderPlan {
  const object = { apiVersion: 'v1', kind: 'Ingress', namespace: 'shop', name: 'cart' };
  const events = messages.map((message) => ({ object, reason: 'Ignored', message }));
  return { id, events } as unknown as RenderPlan;
}

const outcome = (result: Outcome['result']): Outcome => ({
  pod: 'local',
  result,
  reasons: [],
  durationMs: 1,
});
const facts = { durationMs: 1, changes: ['updated ingresses shop/cart'], sinceChangeMs: 2 };

async function onlooker() {
  const told: string[] = [];
  const reporter: Reporter = {
    starting: () => {},
    serving: ({ haproxyVersion }) => void told.push(`serving ${haproxyVersion}`),
    applied: (change) => void told.push(`applied ${change.plan.id} ${change.outcome.result}`),
    refused: ({ planId, changes, findings }) =>
      void told.push(`refused ${planId} ${changes.join()}: ${findings.map(({ message }) => message).join()}`),
    held: () => {},
    released: () => {},
    stopping: () => {},
  };
  const log = memoryLog();
  const { plugin } = reporterPlugin(reporter, 'http://localhost');
  const hooks = createHooks();
  const host = await Host.start<Hooks>({
    observers: controllerRules.observers,
    deadlines: controllerRules.deadlines,
    hooks,
    plugins: [{ plugin: fleet }, { plugin: routing }, { plugin }],
    log,
  });
  hooks.applied.call(plan('first'), [outcome('reload')], facts);
  return {
    told,
    hooks,
    warnings: () => log.records.map(({ fields }) => fields['why']),
    [Symbol.asyncDispose]: () => host.close(),
  };
}

it('warns when everybody has passed a plan, of what was not said before', async () => {
  await using looking = await onlooker();
  const { hooks, warnings } = looking;
  const pass = ({ id }: RenderPlan, ...messages: readonly string[]): void => {
    const rendered = { plan: plan(id, ...messages) } as unknown as Rendered;
    hooks.released.call(rendered, { findings: [], config: {} as never, epoch: 1 });
  };
  hooks.applied.call(plan('a', 'no path'), [outcome('runtime')], facts);
  expect(warnings()).toEqual([]);
  pass(plan('a'), 'no path');
  pass(plan('b'), 'no path', 'no host');
  pass(plan('c'));
  pass(plan('d'), 'no path');
  expect(warnings()).toEqual(['no path', 'no host', 'no path']);
});

it('tells what is taken back, and not that pods took it', async () => {
  await using looking = await onlooker();
  const { hooks, told } = looking;
  const finding: Finding = { judge: 'j', phase: 'haproxy', severity: 'error', message: 'no' };
  const findings: readonly Finding[] = [finding, { ...finding, severity: 'warning', message: 'well' }];
  const refused = { stage: 'validate', verdict: { kind: 'refused', findings } } as const;
  hooks.applied.call(plan('early'), [outcome('runtime')], facts);
  hooks.refused.call({ ...refused, plan: plan('early'), takenBack: { changes: ['one'] } });
  hooks.refused.call({ ...refused, plan: plan('late'), takenBack: { changes: ['two'] } });
  hooks.applied.call(plan('late'), [outcome('runtime'), outcome('rejected')], facts);
  // It went nowhere.
  hooks.refused.call({ ...refused, plan: plan('held') });
  hooks.applied.call(plan('next'), [outcome('reload')], facts);
  expect(told).toEqual([
    'serving 3.4.7',
    'applied early runtime',
    'refused early one: no',
    'refused late two: no',
    'applied late rejected',
    'applied next reload',
  ]);
});
