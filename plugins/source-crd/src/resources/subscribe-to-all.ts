import type { KubeObject } from '@haptic/core/contract';
import type { Changes, ObjectName } from '@haptic/kube';
import type { Subscriber } from './shared-watch.ts';
import type { Subscribe } from './succession.ts';

type Objects = Map<string, KubeObject>;

function keyOf({ namespace = '', name }: { readonly namespace?: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/**
 * Several subscriptions told as one, from when all of them have everything. An object that leaves one and comes with another may do
 * so in any order, since each has a connection of its own: while two have it, the one named first counts.
 */
export function subscribeToAll(parts: readonly Subscribe[], subscriber: Subscriber): () => void {
  const has: (Objects | undefined)[] = parts.map(() => undefined);
  const isComplete = (): boolean => !has.includes(undefined);
  const ends = parts.map((subscribe, part) =>
    subscribe({
      replace(objects) {
        has[part] = new Map(objects.map((object) => [keyOf(object.metadata), object]));
        if (isComplete()) subscriber.replace(all(has));
      },
      apply(changes) {
        const names = take(has[part]!, changes);
        if (!isComplete()) return;
        subscriber.apply(now(names, has));
      },
    }),
  );
  return () => {
    for (const end of ends) end();
  };
}

function all(parts: readonly (Objects | undefined)[]): readonly KubeObject[] {
  const whole: Objects = new Map();
  for (const part of parts.toReversed()) for (const [key, object] of part!) whole.set(key, object);
  return [...whole.values()];
}

function take(objects: Objects, { upserts, deletes }: Changes): readonly ObjectName[] {
  for (const name of deletes) objects.delete(keyOf(name));
  for (const object of upserts) objects.set(keyOf(object.metadata), object);
  const changed = upserts.map(({ metadata: { namespace = '', name } }) => ({ namespace, name }));
  return [...deletes, ...changed];
}

/** What there is of these, for who sees the whole. */
function now(names: readonly ObjectName[], parts: readonly (Objects | undefined)[]): Changes {
  const [upserts, deletes]: [KubeObject[], ObjectName[]] = [[], []];
  for (const name of names) {
    const key = keyOf(name);
    const object = parts.find((part) => part!.has(key))?.get(key);
    if (object === undefined) deletes.push(name);
    else upserts.push(object);
  }
  return { upserts, deletes };
}
