import { actualDigest, type Tree } from '../files/tree.ts';
import { SocketFailure } from '../haproxy/exchange.ts';
import { workerHealth, type WorkerHealth } from '../haproxy/worker-health.ts';
import type { Layout } from '../protocol/index.ts';
import type { PlanStore } from '../files/plan-store.ts';
import type { TreeStore } from '../files/tree-store.ts';
import { PROTOCOL_VERSION, type AgentState, type StateQuery, type StoredPlan } from '../protocol/index.ts';
import type { Clock } from '@haptic/core/contract';
import type { Applier } from './applier.ts';
import type { DeferredDeletes } from '../runtime/deferred-deletes.ts';
import type { Fence } from './fence.ts';
import { supportedOperations } from './supported-operations.ts';
import type { WorkerDrift } from './worker-drift.ts';
import type { WorkerRecordFile } from './worker-record.ts';
import type { Observation, WorkerWatch } from './worker-watch.ts';

export interface StateFacts {
  readonly agentVersion: string;
  readonly layout: Layout;
  readonly trees: TreeStore;
  readonly plans: PlanStore;
  readonly fence: Fence;
  readonly watch: WorkerWatch;
  readonly record: WorkerRecordFile;
  readonly workerDrift: WorkerDrift;
  readonly applier: Applier;
  readonly deferred: DeferredDeletes;
  readonly clock: Clock;
}

/** What the pod runs, as a controller needs to know it. */
export async function reportState(
  facts: StateFacts,
  query: StateQuery,
  signal: AbortSignal,
): Promise<AgentState> {
  const { trees, fence, applier } = facts;
  const observed = await facts.watch.observe(signal);
  const current = trees.pointer('current');
  const applied = current?.record.planId ?? null;
  const { worker, record } = observed;
  return {
    protocol: PROTOCOL_VERSION,
    agentVersion: facts.agentVersion,
    ops: [...supportedOperations(worker?.version)],
    haproxyVersion: worker?.version ?? null,
    master: observed.master === undefined ? null : { pid: observed.master },
    worker: worker === undefined ? null : { pid: worker.pid, startedAt: worker.startedAt },
    paths: { base: trees.workingDirectory, workerSocket: facts.layout.workerSocket },
    generation: fence.generation,
    applied,
    running: record?.planId ?? null,
    inStep: current !== undefined && record?.treeId === current.id,
    lkg: trees.pointer('lkg')?.record.planId ?? null,
    token: fence.token,
    ...(query.plan && { plan: storedPlan(trees, facts.plans) }),
    ...files(trees, query, query.verify ? await driftOfWorker(facts, observed, signal) : []),
    ...(query.health && { health: await health(facts.layout, signal) }),
    pendingReload:
      applier.reloadDueAt === undefined || applied === null
        ? null
        : { planId: applied, dueMs: Math.max(0, applier.reloadDueAt - facts.clock.now()) },
    pendingDeletes: facts.deferred.names,
    lastApply: fence.lastAnswer,
  };
}

async function health({ workerSocket }: Layout, signal: AbortSignal): Promise<WorkerHealth | null> {
  try {
    return await workerHealth(workerSocket, signal);
  } catch (error) {
    if (error instanceof SocketFailure) return null;
    throw error;
  }
}

function storedPlan(trees: TreeStore, plans: PlanStore): StoredPlan | null {
  const { planId, plan: chunks } = trees.pointer('current')?.record ?? { planId: null, plan: [] };
  const parts = planId === null ? undefined : plans.read(chunks);
  if (parts === undefined) return null;
  return {
    chunks: [...chunks],
    data: Object.fromEntries(chunks.map((digest, at) => [digest, parts[at]!.toString('base64')])),
  };
}

/** A changed file is shown with the digest that it has, so that a controller sends it again. */
function files(
  trees: TreeStore,
  { verify, files: isWanted }: StateQuery,
  ofWorker: readonly string[],
): Pick<AgentState, 'files' | 'drift'> {
  const current = trees.pointer('current');
  const drift = new Set(current === undefined ? [] : verify ? trees.check(current) : trees.drift(current));
  return {
    ...(isWanted && { files: digests(current, drift) }),
    ...(verify && { drift: [...drift, ...ofWorker] }),
  };
}

/** Of a worker that is in step with what is in place, and stays so while it is asked. */
async function driftOfWorker(
  { trees, record, deferred, workerDrift }: StateFacts,
  observed: Observation,
  signal: AbortSignal,
): Promise<string[]> {
  const tree = trees.pointer('current');
  const { worker, record: known } = observed;
  const isCurrent = (): boolean =>
    trees.pointer('current')?.id === tree?.id &&
    record.value?.treeId === tree?.id &&
    record.value?.pid === worker?.pid;
  // What changes a worker puts its files in place first.
  if (tree === undefined || worker === undefined || known?.treeId !== tree.id || !isCurrent()) return [];
  const { turns } = deferred;
  const question = { tree, pid: worker.pid, turns, deferred: () => deferred.items, isCurrent };
  return await workerDrift.look(question, signal);
}

function digests(current: Tree | undefined, drift: ReadonlySet<string>): Record<string, string> {
  if (current === undefined) return {};
  const rows = [...current.record.files].map(({ path, digest }): [string, string | undefined] => [
    path,
    drift.has(path) ? actualDigest(current, path) : digest,
  ]);
  return Object.fromEntries(rows.filter((row): row is [string, string] => row[1] !== undefined));
}
