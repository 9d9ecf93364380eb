import type { ObjectRef } from '@haptic/core/contract';
import type { PreparedRoute } from './prepared-route.ts';
import type { BackendRef } from './route.ts';
import { sameItems } from './same-items.ts';

/** A backend that some route leads to, and the objects that say so. */
export interface UsedBackend {
  readonly name: string;
  readonly ref: BackendRef;
  readonly objects: readonly ObjectRef[];
}

export function usedBackends(routes: readonly PreparedRoute[]): readonly UsedBackend[] {
  const uses = routes.map(({ route, backends }) => {
    return backends.map((backend) => ({ ...backend, objects: [route.origin.object] }));
  });
  return [...mergeUses(uses).values()];
}

/** Each backend once, by name, in order of first use. One that a single list uses is the identical object. */
export function mergeUses(lists: readonly (readonly UsedBackend[])[]): Map<string, UsedBackend> {
  const merged = new Map<string, UsedBackend>();
  for (const list of lists) {
    for (const used of list) {
      const known = merged.get(used.name);
      merged.set(used.name, known === undefined ? used : withObjects(known, used.objects));
    }
  }
  return merged;
}

function withObjects(used: UsedBackend, more: readonly ObjectRef[]): UsedBackend {
  const added = more.filter((object) => !used.objects.includes(object));
  return added.length === 0 ? used : { ...used, objects: [...used.objects, ...added] };
}

/** Puts backends of an earlier compilation in the place of those that say the same. */
export function keepUses(before: ReadonlyMap<string, UsedBackend>, now: Map<string, UsedBackend>): void {
  for (const [name, used] of now) {
    const known = before.get(name);
    if (known === undefined || known === used || !sameItems(known.objects, used.objects)) continue;
    now.set(name, known);
  }
}
