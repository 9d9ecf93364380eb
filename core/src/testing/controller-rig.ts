import { setImmediate as turn } from 'node:timers/promises';
import {
  definePlugin,
  JUDGE_BINARY,
  Refused,
  z,
  type Candidate,
  type FindingCollector,
  type HookContext,
  type Hooks,
  type KubeObject,
  type RenderInput,
  type Rendered,
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
import { fleetPlugin, memoryFleet, type MemoryFleet } from './memory-fleet.ts';
import { memoryLog, type MemoryLog } from './memory-log.ts';
import { memorySource, sourcePlugin, type MemorySource } from './memory-source.ts';
import { backend, base, profiles, renderOutput, section } from './render-output.ts';

export { rigSpec } from './memory-source.ts';

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
