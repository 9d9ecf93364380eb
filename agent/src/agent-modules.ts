import type { Clock, Meter } from '@haptic/core/contract';
import type { AgentOptions } from './agent-options.ts';
import { Applier } from './apply/applier.ts';
import { Fence } from './apply/fence.ts';
import { Loader } from './apply/loader.ts';
import { Waiters } from './apply/waiters.ts';
import { WorkerChanges } from './apply/worker-changes.ts';
import { WorkerDrift } from './apply/worker-drift.ts';
import { WorkerRecordFile } from './apply/worker-record.ts';
import { WorkerWatch } from './apply/worker-watch.ts';
import { PlanStore } from './files/plan-store.ts';
import { TreeStore } from './files/tree-store.ts';
import type { AgentHooks } from './hooks.ts';
import { DEFERRED_DELETES } from './metrics/definitions.ts';
import { layout } from './protocol/index.ts';
import { DeferredDeletes } from './runtime/deferred-deletes.ts';

export type ModuleOptions = Omit<AgentOptions, 'plugins' | 'clock' | 'watchInterval' | 'version'>;

export interface ModuleFacts {
  readonly hooks: AgentHooks;
  readonly clock: Clock;
  readonly meter: Meter;
  /** Aborted when the agent stops. */
  readonly signal: AbortSignal;
}

export type AgentModules = ReturnType<typeof agentModules>;

/** The plain modules that applies are made with, each with what it needs of the others. */
export function agentModules(options: ModuleOptions, { hooks, clock, meter, signal }: ModuleFacts) {
  const { baseDir, socketDir, log, durability = 'process', onStep = () => {} } = options;
  const paths = layout(baseDir, socketDir);
  const trees = new TreeStore({ baseDir, durability, onStep });
  const plans = new PlanStore(baseDir, durability);
  const fence = new Fence(baseDir, durability);
  const record = new WorkerRecordFile(baseDir, durability, log);
  const waiters = new Waiters();
  const changed = (): void => {
    waiters.wake();
    measureDeletes();
  };
  const watch = new WorkerWatch(paths, trees, record, (pid) => {
    log.info({ worker: pid }, pid === 0 ? 'HAProxy does not answer' : 'another HAProxy worker answers');
    changed();
  });
  const deferred = new DeferredDeletes({ socket: paths.workerSocket, clock, log, signal, changed });
  const measureDeletes = (): void => meter.gauge(DEFERRED_DELETES, deferred.names.length);
  const common = { layout: paths, trees, plans, record, deferred, clock, log, meter, onStep, signal };
  const applier = new Applier({
    ...common,
    fence,
    watch,
    waiters,
    changes: new WorkerChanges({ ...common, longestResponse: options.longestResponse ?? 30_000 }),
    loader: new Loader({
      ...common,
      reloadTimeout: options.reloadTimeout ?? 60_000,
      reloadIntervalMin: options.reloadIntervalMin ?? 0,
    }),
    verify: (request) => hooks.verify.promise(request),
    applied: (answer, mode) => {
      measureDeletes();
      hooks.applied.call(answer, mode);
    },
  });
  const workerDrift = new WorkerDrift(paths.workerSocket, log);
  return { ...common, fence, watch, waiters, applier, workerDrift };
}
