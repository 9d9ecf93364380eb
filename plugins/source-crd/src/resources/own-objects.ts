import type { ObjectInterest } from '@haptic/core/contract';
import type { Discovery } from '@haptic/kube';
import type { Filter, WatchPool } from './watch-pool.ts';

/**
 * Which objects of a kind are ours, as the objects of another kind say: calls with a filter once these are here, and with another
 * one when they say something else. Returns how to stop.
 */
export function followOwn(
  interests: readonly ObjectInterest[],
  { discovery, pool }: { readonly discovery: Discovery; readonly pool: WatchPool },
  changed: (filter: Filter | undefined) => void,
): () => void {
  const [own, ...others] = interests.flatMap((interest) => interest.own ?? []);
  const by = own && discovery.find([own.by.apiVersion], own.by.resources);
  // Two readers may want different objects of one kind: then neither may drop what the other wants.
  if (own === undefined || by === undefined || others.length > 0) {
    changed(undefined);
    return () => undefined;
  }
  const deciding = new Map<string, Parameters<typeof own.rule>[0][number]>();
  let key: string | undefined;
  const decide = (): void => {
    const rule = own.rule([...deciding.values()]);
    if (rule.key === key) return;
    key = rule.key;
    changed(rule);
  };
  return pool.subscribe(
    { resource: by, namespaces: [], ignoreFields: [] },
    {
      replace(objects) {
        deciding.clear();
        for (const object of objects) deciding.set(object.metadata.name, object);
        decide();
      },
      apply({ upserts, deletes }) {
        for (const { name } of deletes) deciding.delete(name);
        for (const object of upserts) deciding.set(object.metadata.name, object);
        decide();
      },
    },
  );
}
