import { setImmediate as turn } from 'node:timers/promises';
import {
  CONFIG_CHANGES,
  definePlugin,
  FLEET,
  JUDGE_BINARY,
  Refused,
  RESOURCE_SOURCE,
  TERM,
  z,
  type Candidate,
  type ConfigSource,
  type ConfigVersion,
  type DeployMode,
  type Deployment,
  type FleetFacts,
  type FindingCollector,
  type HookContext,
  type Hooks,
  type KubeObject,
  type Outcome,
  type OutcomeCollector,
  type Pod,
  type RenderInput,
  type Rendered,
  type RenderPlan,
  type StoreSink,
  type Term,
  type Verdict,
} from '../contract/index.ts';
import {
  composeController,
  sha256,
  type Controller,
  type ControllerOptions,
  type TemplateEngine,
} from '../controller/index.ts';
import type { EnabledPlugin } from '../host/index.ts';
import { createNames } from '../templates/names/registry.ts';
import type { RenderOutput } from '../templates/output.ts';
import { fakeClock, type FakeClock } from './fake-clock.ts';
import { memoryLog, type MemoryLog } from './memory-log.ts';
import { backend, base, profiles, renderOutput, section } from './render-output.ts';

/** A source of configuration and objects that a test moves. */
export interface MemorySource {
  spec: unknown;
  /** Of the object that it would stand in; none without. */
  version?: ConfigVersion;
  /** What `load` does instead of handing out the spec at once. */
  load?: (signal: AbortSignal) => Promise<void>;
  objects: Record<string, readonly KubeObject[] | 'not served'>;
  readonly watching: {
    readonly sink: StoreSink;
    readonly signal: AbortSignal;
    readonly watches: readonly string[];
  }[];
  /** How a watch ends that was asked for; at once without. */
  filled?: (signal: AbortSignal) => Promise<void>;
  changed(): void;
  /** Puts an object into the newest store. */
  put(watch: string, object: KubeObject): void;
}

export interface MemoryFleet {
  pods: Pod[];
  paths: FleetFacts['paths'];
  readonly deployments: Deployment[];
  /** That only told pods that a plan which they have is validated by now. */
  readonly confirmations: Deployment[];
  /** Plans that were taken back, in order. */
  readonly reverts: string[];
  /** What a pod reports after a revert; without, none carries the plan that goes. */
  lastKnownGood?: RenderPlan;
  /** What becomes of a plan that is taken back, instead. */
  revert?: (plan: string) => Promise<readonly Outcome[]>;
  /** What becomes of a deployment; without, every pod takes it. */
  deploy?: (deployment: Deployment, outcomes: OutcomeCollector, signal: AbortSignal) => Promise<void>;
  changed(): void;
  /** Every pod of the deployment takes it, and reports so. */
  take(deployment: Deployment, outcomes: OutcomeCollector, pods?: readonly string[]): void;
}

export type JudgeRun = (
  candidate: Candidate,
  findings: FindingCollector,
  signal: AbortSignal,
  context: HookContext,
) => Promise<void>;

export interface Rig extends AsyncDisposable {
  readonly controller: Controller;
  readonly clock: FakeClock;
  readonly log: MemoryLog;
  readonly source: MemorySource;
  readonly fleet: MemoryFleet;
  /** Names of the observers that were told something, in order. */
  readonly told: string[];
  readonly term: { current: Term };
  /** Every verdict that observers were told, in order. */
  readonly verdicts: { readonly planId: string; readonly kind: Verdict['kind'] }[];
  /** Everything that was released, in order. */
  readonly released: Rendered[];
  /** What the judge of kind `haproxy` does; without, it finds nothing. */
  judge: JudgeRun | undefined;
  external: JudgeRun | undefined;
  custom: JudgeRun | undefined;
  /** Ends the run; waits for it. */
  stop(): Promise<void>;
  /** Lets everything happen that needs no time to pass. */
  settle(): Promise<void>;
}

/** A configuration with one required and one optional watch. */
export function rigSpec(template = 'x', more: object = {}): object {
  return {
    haproxyConfig: { template },
    watchedResources: {
      ingresses: { apiVersion: 'networking.k8s.io/v1', resources: 'ingresses' },
      slices: { apiVersion: 'discovery.k8s.io/v1', resources: 'endpointslices', debounce: '0s' },
      gateways: { apiVersion: 'gateway.networking.k8s.io/v1', resources: 'gateways', optional: true },
    },
    ...more,
  };
}

export function ingress(name: string, spec: object = {}): KubeObject {
  return { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { namespace: 'ns', name }, spec };
}

/** A backend for every Ingress; one with `fail` is refused, as a template would. */
function output({ config, view, fleet }: RenderInput): RenderOutput {
  const ingresses = view.watch('ingresses').list();
  const failing = ingresses.find(({ spec }) => (spec as { fail?: boolean }).fail === true);
  if (failing !== undefined) throw new Refused(`${failing.metadata.name} fails`);
  const watches = Object.keys(config.watchedResources).sort().join();
  const marker = section(
    'marker',
    `# ${config.haproxyConfig.template} ${fleet.haproxyVersion} ${watches}\n# ${fleet.paths.workerSocket}\n`,
  );
  const backends = ingresses.map(({ metadata: { name } }) => backend(name));
  const slices = view.watches.includes('slices') ? view.watch('slices').list() : [];
  const statuses = slices.flatMap(({ spec }) => (spec as { status?: string }).status ?? []);
  return renderOutput({
    pieces: [base, profiles, marker, ...backends],
    statuses: statuses.map((status) => ({ status })),
  });
}

/** Templates whose text begins with "bad" do not compile. */
function engine(): TemplateEngine {
  return {
    names: createNames(sha256),
    compile: (config) => {
      if (config.haproxyConfig.template.startsWith('bad')) throw new Refused('bad template');
      return { render: async (input) => output(input) };
    },
  };
}

const options = z.strictObject({});

function sourcePlugin(source: MemorySource): EnabledPlugin<Hooks> {
  const plugin = definePlugin({
    name: 'source',
    apiVersion: 1,
    options,
    setup({ name, hooks, use, provide }) {
      const changes = use(CONFIG_CHANGES);
      source.changed = () => changes.changed();
      hooks.load.tapPromise(name, async (collector, { signal }) => {
        const { spec, version } = source;
        if (version !== undefined) collector.version(version);
        await source.load?.(signal);
        const config: ConfigSource = { kind: 'config', name: 'main', spec };
        collector.provide([config]);
      });
      provide(RESOURCE_SOURCE, {
        async watch(watches, sink, signal) {
          source.watching.push({ sink, signal, watches: Object.keys(watches) });
          for (const watch of Object.keys(watches)) {
            const objects = source.objects[watch] ?? [];
            if (objects === 'not served') sink.notServed(watch);
            else sink.replace(watch, objects);
          }
          await source.filled?.(signal);
        },
      });
    },
  });
  return { plugin };
}

function otherJudge(
  rig: Pick<Rig, 'external' | 'custom'>,
  kind: 'external' | 'custom',
): EnabledPlugin<Hooks> {
  const plugin = definePlugin({
    name: kind,
    apiVersion: 1,
    options,
    judge: kind,
    setup({ name, hooks }) {
      hooks.validate.tapPromise(name, async (candidate, findings, context) => {
        await rig[kind]?.(candidate, findings, context.signal, context);
      });
    },
  });
  return { plugin };
}

function judgePlugin(rig: Pick<Rig, 'judge'>): EnabledPlugin<Hooks> {
  const plugin = definePlugin({
    name: 'judge',
    apiVersion: 1,
    options,
    judge: 'haproxy',
    setup({ name, hooks, provide }) {
      provide(JUDGE_BINARY, { version: async () => '3.4.7' });
      hooks.validate.tapPromise(name, async (candidate, findings, context) => {
        await rig.judge?.(candidate, findings, context.signal, context);
      });
    },
  });
  return { plugin };
}

function fleetPlugin(fleet: MemoryFleet, term: Rig['term']): EnabledPlugin<Hooks> {
  const plugin = definePlugin({
    name: 'fleet',
    apiVersion: 1,
    options,
    setup({ name, hooks, provide }) {
      const listeners = new Set<() => void>();
      fleet.changed = () => listeners.forEach((listener) => listener());
      provide(TERM, {
        current: () => term.current,
        onChange: () => () => undefined,
        raise: (seen) => Promise.resolve(seen + 1),
      });
      provide(FLEET, {
        pods: () => fleet.pods,
        facts: () => {
          const versions = fleet.pods.flatMap(({ haproxyVersion }) => haproxyVersion ?? []);
          const { paths } = fleet;
          return versions[0] === undefined ? { paths } : { paths, haproxyVersion: versions[0] };
        },
        onChange(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
        highestEpoch: () => Promise.resolve(0),
        revert: async (plan) => (await fleet.revert?.(plan)) ?? revertPods(fleet, plan),
      });
      hooks.deploy.tapPromise({ name, deadlineMs: Infinity }, async (deployment, outcomes, { signal }) => {
        const { rendered, plans, validated } = deployment;
        const isConfirmation =
          validated &&
          fleet.deployments.at(-1)?.rendered === rendered &&
          plans.every(({ mode }) => mode === 'noop');
        (isConfirmation ? fleet.confirmations : fleet.deployments).push(deployment);
        if (fleet.deploy === undefined) fleet.take(deployment, outcomes);
        else await fleet.deploy(deployment, outcomes, signal);
      });
    },
  });
  return { plugin };
}

/** Pods whose own HAProxy loaded the plan stay as they are. */
function revertPods(fleet: MemoryFleet, plan: string): Outcome[] {
  fleet.reverts.push(plan);
  const { lastKnownGood } = fleet;
  if (lastKnownGood === undefined) return [];
  const carries = ({ applied, loaded }: Pod): boolean => applied === plan && loaded !== plan;
  const outcomes = fleet.pods
    .filter(carries)
    .map(({ name }): Outcome => ({ pod: name, result: 'reload', reasons: ['revert_lkg'], durationMs: 1 }));
  const { id } = lastKnownGood;
  fleet.pods = fleet.pods.map((pod) =>
    carries(pod) ? { ...pod, baseline: lastKnownGood, applied: id, loaded: id } : pod,
  );
  fleet.changed();
  return outcomes;
}

function observerPlugin({
  told,
  verdicts,
  released,
}: Pick<Rig, 'told' | 'verdicts' | 'released'>): EnabledPlugin<Hooks> {
  const plugin = definePlugin({
    name: 'observer',
    apiVersion: 1,
    options,
    setup({ name, hooks }) {
      hooks.rendered.tap(name, (_plan, { caller }) => void told.push(`rendered ${caller}`));
      hooks.judged.tap(name, ({ id: planId }, { kind }, { caller }) => {
        told.push(`judged ${caller} ${kind}`);
        verdicts.push({ planId, kind });
      });
      hooks.applied.tap(name, (_plan, outcomes) => {
        told.push(`applied ${outcomes.map(({ pod, result }) => `${pod}=${result}`).join()}`);
      });
      hooks.released.tap(name, (rendered) => void released.push(rendered));
      hooks.refused.tap(name, ({ stage }) => void told.push(`refused ${stage}`));
      hooks.configAccepted.tap(
        name,
        ({ haproxyConfig }) => void told.push(`accepted ${haproxyConfig.template}`),
      );
      hooks.configRejected.tap(name, ({ message }) => void told.push(`rejected ${message}`));
    },
  });
  return { plugin };
}

function withPlan(pod: Pod, mode: DeployMode, plan: RenderPlan): Pod {
  return { ...pod, baseline: plan, applied: plan.id, ...(mode === 'reload' && { loaded: plan.id }) };
}

function memoryFleet(): MemoryFleet {
  const fleet: MemoryFleet = {
    pods: [{ name: 'a', ops: [] }],
    paths: { base: '/etc/haproxy', workerSocket: '/run/worker.sock' },
    deployments: [],
    confirmations: [],
    reverts: [],
    changed() {},
    take({ plans, rendered }, outcomes, taken = plans.map(({ pod }) => pod)) {
      for (const { pod, mode, reasons } of plans) {
        if (!taken.includes(pod)) continue;
        outcomes.add({ pod, result: mode, reasons, durationMs: 1 });
        fleet.pods = fleet.pods.map((known) =>
          known.name === pod ? withPlan(known, mode, rendered.plan) : known,
        );
      }
      fleet.changed();
    },
  };
  return fleet;
}

function memorySource(): MemorySource {
  const source: MemorySource = {
    spec: rigSpec(),
    objects: { gateways: 'not served' },
    watching: [],
    changed() {},
    put(watch, object) {
      source.watching.at(-1)!.sink.apply(watch, { upserts: [object], deletes: [] });
    },
  };
  return source;
}

/**
 * A controller that runs over memory.
 *
 * @param prepare Sets the stage before it starts.
 * @param create Another controller than one with the small engine.
 */
export async function controllerRig(
  prepare: (rig: Rig) => void = () => {},
  create = (options: ControllerOptions): Promise<Controller> => composeController(options, engine()),
): Promise<Rig> {
  const clock = fakeClock();
  const log = memoryLog();
  const stopping = new AbortController();
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 30; turns++) await turn();
  };
  let running = Promise.resolve();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running;
  };
  const parts = {
    clock,
    log,
    source: memorySource(),
    fleet: memoryFleet(),
    told: [] as string[],
    term: { current: { leader: true, epoch: 1, signal: new AbortController().signal } },
    verdicts: [] as { readonly planId: string; readonly kind: Verdict['kind'] }[],
    released: [] as Rendered[],
    judge: undefined as JudgeRun | undefined,
    external: undefined as JudgeRun | undefined,
    custom: undefined as JudgeRun | undefined,
    stop,
    settle,
    async [Symbol.asyncDispose]() {
      await stop();
      await controller.close();
    },
  };
  const plugins = [
    sourcePlugin(parts.source),
    judgePlugin(parts),
    otherJudge(parts, 'external'),
    otherJudge(parts, 'custom'),
    fleetPlugin(parts.fleet, parts.term),
    observerPlugin(parts),
  ];
  const controller = await create({ plugins, log, clock });
  const rig: Rig = Object.assign(parts, { controller });
  prepare(rig);
  running = controller.run(stopping.signal);
  await settle();
  return rig;
}
