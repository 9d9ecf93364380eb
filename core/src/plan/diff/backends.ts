import type { Backend } from '../../contract/index.ts';
import { compareServers, runtimeServer } from './servers.ts';
import type { Steps } from './steps.ts';

/** What the pod's worker knows. */
export interface Worker {
  readonly steps: Steps;
  readonly isLoaded: (profile: string) => boolean;
}

function added(name: string, backend: Backend, { steps, isLoaded }: Worker): void {
  const { profile, mode, guid, servers, shape } = backend;
  const reason = `backend_added:${name}`;
  if (shape === 'static' || !steps.supports('backend.add')) return steps.reload(reason);
  if (!isLoaded(profile)) return steps.reload(`profile_new:${profile}`);
  const op = { op: 'backend.add', name, profile, mode, guid, servers: servers.map(runtimeServer) } as const;
  steps.run('backends', reason, op);
}

function removed(name: string, { shape, servers, spareFor }: Backend, { steps }: Worker): void {
  const reason = `backend_removed:${name}`;
  // Nothing leads there, so it may stay until a reload comes.
  if (spareFor === '') return steps.note(reason);
  if (shape === 'static' || !steps.supports('backend.del')) return steps.reload(reason);
  steps.run('backends-gone', reason, {
    op: 'backend.del',
    name,
    servers: servers.map((server) => server.name),
  });
}

/** Everything but the servers. */
function isKept(next: Backend, before: Backend): boolean {
  const { profile, mode, guid, shape, directives } = next;
  return (
    profile === before.profile &&
    mode === before.mode &&
    guid === before.guid &&
    shape === before.shape &&
    directives === before.directives
  );
}

/** A spare backend that serves for another one than before, without having been free between. */
function isHandedOver({ spareFor: next = '' }: Backend, { spareFor: before = '' }: Backend): boolean {
  return next !== before && next !== '' && before !== '';
}

export function compareBackend(
  name: string,
  next: Backend | undefined,
  before: Backend | undefined,
  worker: Worker,
): void {
  if (next === undefined) return before && removed(name, before, worker);
  if (before === undefined) return added(name, next, worker);
  // Both names would reach both backends' servers for a moment.
  if (isHandedOver(next, before)) {
    return worker.steps.reload(`spare_reused:${name}`);
  }
  const kept = isKept(next, before);
  // HAProxy has no second backend of a name, and the first one goes only when its connections have gone.
  if (!kept) worker.steps.reload(`backend_changed:${name}`);
  compareServers(next, before, { steps: worker.steps, backend: name, kept });
}
