import { z } from '@haptic/core/contract';

/** Which objects may have addresses of ours, and which addresses these may be. */
export const publishedAddresses = z.strictObject({
  version: z.literal(1),
  /** Those that were in use last stand last. */
  addresses: z.array(z.string()),
  /** Names by namespace by `apiVersion resources`. */
  objects: z.record(z.string(), z.record(z.string(), z.array(z.string()))),
});
export type PublishedAddresses = z.output<typeof publishedAddresses>;

export const NOTHING_PUBLISHED: PublishedAddresses = { version: 1, addresses: [], objects: {} };

/** One object, and how to come by it. */
export interface Place {
  readonly apiVersion: string;
  readonly resources: string;
  readonly namespace: string;
  readonly name: string;
}

export function placeKey({ apiVersion, resources, namespace, name }: Place): string {
  return `${apiVersion} ${resources} ${namespace}/${name}`;
}

export function placesOf({ objects }: PublishedAddresses): readonly Place[] {
  return Object.entries(objects).flatMap(([kind, namespaces]) => {
    const [apiVersion = '', resources = ''] = kind.split(' ');
    return Object.entries(namespaces).flatMap(([namespace, names]) =>
      names.map((name) => ({ apiVersion, resources, namespace, name })),
    );
  });
}

/** Addresses that were ever written and are known as ours; besides those in use. */
const MOST_ADDRESSES = 32;

/**
 * The addresses that may stand in a status because of us, in the order of their last use. Those that nobody has used for longest are
 * forgotten; not one that is in use.
 */
export function latestAddresses(known: readonly string[], used: readonly string[]): readonly string[] {
  const inUse = new Set(used);
  const others = known.filter((address) => !inUse.has(address));
  const room = Math.max(0, MOST_ADDRESSES - inUse.size);
  return [...others.slice(Math.max(0, others.length - room)), ...inUse];
}

export function describePlaces(places: Iterable<Place>, addresses: Iterable<string>): PublishedAddresses {
  const objects: Record<string, Record<string, string[]>> = {};
  for (const { apiVersion, resources, namespace, name } of places) {
    const namespaces = (objects[`${apiVersion} ${resources}`] ??= {});
    (namespaces[namespace] ??= []).push(name);
  }
  return { version: 1, addresses: [...addresses], objects };
}
