import type { Backend, Operation, RuntimeServer, Server } from '../../contract/index.ts';
import { hasHealthChecks, saidByKeywords, whyNotAddable } from '../server-keywords.ts';
import type { Steps } from './steps.ts';
import { compareSorted } from '../window.ts';

/** A server without a weight has this one; one that drains has none. */
function weightOf({ state, weight = 1 }: Server): number {
  return state === 'drain' ? 0 : weight;
}

function stateOf({ state }: Server): 'ready' | 'maint' {
  return state === 'maint' ? 'maint' : 'ready';
}

export function runtimeServer(server: Server): RuntimeServer {
  const { name, address, port, keywords, guid } = server;
  return {
    name,
    address,
    port,
    weight: weightOf(server),
    state: stateOf(server),
    checked: hasHealthChecks(keywords),
    keywords,
    guid,
  };
}

function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((word, index) => word === b[index]));
}

type ServerSettings = Extract<Operation, { readonly op: 'server.set' }>;

/** What `server.set` can say of the difference; undefined where it has nothing to say. */
function settings(backend: string, next: Server, before: Server): ServerSettings | undefined {
  const moved = next.address !== before.address || next.port !== before.port;
  const { weight: hasWeight, state: hasState } = saidByKeywords(next.keywords);
  const weight = weightOf(next);
  const state = stateOf(next);
  const changes = {
    ...(moved && { endpoint: { address: next.address, port: next.port } }),
    ...(!hasWeight && weight !== weightOf(before) && { weight }),
    ...(!hasState && state !== stateOf(before) && { state }),
  };
  if (Object.keys(changes).length === 0) return undefined;
  return { op: 'server.set', backend, name: next.name, ...changes };
}

type Compared = {
  readonly steps: Steps;
  readonly backend: string;
  /** Why the worker can not take changes of servers, if so. */
  readonly fixed: boolean;
  /** Whether none of its servers stays. */
  readonly emptied: boolean;
  /** Whether the backend stays as it is but for its servers. If not a reload is due, and what can be done is done until then. */
  readonly kept: boolean;
};

function added(server: Server, { steps, backend, fixed, kept }: Compared): void {
  const op = { op: 'server.add', backend, server: runtimeServer(server) } as const;
  const reason = `server_added:${backend}/${server.name}`;
  const canRun = !fixed && whyNotAddable(server.keywords) === undefined;
  if (canRun && kept) steps.run('servers', reason, op);
  else if (canRun) steps.stopgap('servers', op);
  else steps.reload(reason);
}

function removed({ name, keywords, guid }: Server, compared: Compared): void {
  const { steps, backend, fixed, kept, emptied } = compared;
  const op = { op: 'server.del', backend, name, keywords, guid } as const;
  const reason = `server_removed:${backend}/${name}`;
  // What leads to a backend that nobody serves any more goes first.
  const phase = emptied ? 'backends-gone' : 'servers-gone';
  if (fixed) steps.reload(reason);
  else if (kept) steps.run(phase, reason, op);
  else steps.stopgap(phase, op);
}

function changed(next: Server, before: Server, { steps, backend, fixed, kept }: Compared): void {
  const op = settings(backend, next, before);
  const reason = `server_changed:${backend}/${next.name}`;
  const sameLine = sameWords(next.keywords, before.keywords) && next.guid === before.guid;
  if (!sameLine) steps.reload(`server_keywords:${backend}/${next.name}`);
  if (op === undefined) return;
  // Those that leave the others to take the requests come last.
  const rank = Number(op.weight === 0 || op.state === 'maint');
  if (fixed) steps.reload(reason);
  else if (kept && sameLine) steps.run('server-settings', reason, op, rank);
  else steps.stopgap('server-settings', op, rank);
}

/** The servers of a backend that is there before and after. */
export function compareServers(
  next: Backend,
  before: Backend,
  about: { readonly steps: Steps; readonly backend: string; readonly kept: boolean },
): void {
  if (next.servers === before.servers) return;
  const fixed = before.serversReason !== undefined || next.serversReason !== undefined;
  const compared = { ...about, fixed, emptied: next.servers.length === 0 };
  compareSorted(
    { next: next.servers, before: before.servers },
    ({ name }) => name,
    (a, b) => a === b,
    (a, b) => {
      if (a === undefined) removed(b!, compared);
      else if (b === undefined) added(a, compared);
      else changed(a, b, compared);
    },
  );
}
