import { z } from '@haptic/core/contract';

/** Which objects may have addresses of ours, and which addresses these may be. */
export const publishedAddresses = z.strictObject({
  version: z.literal(1),
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

export function describePlaces(places: Iterable<Place>, addresses: Iterable<string>): PublishedAddresses {
  const objects: Record<string, Record<string, string[]>> = {};
  for (const { apiVersion, resources, namespace, name } of places) {
    const namespaces = (objects[`${apiVersion} ${resources}`] ??= {});
    (namespaces[namespace] ??= []).push(name);
  }
  return { version: 1, addresses: [...new Set(addresses)].toSorted(), objects };
}
