import type { Fixtures, HttpResource } from '../contract/config.ts';
import type { Contents } from '../contract/contents.ts';
import type { KubeObject } from '../contract/object.ts';

/** What makes an object of a watch the same object in two places. */
export function fixtureIdentity({ apiVersion, kind, metadata }: KubeObject): string {
  return JSON.stringify([apiVersion, kind, metadata.namespace ?? '', metadata.name]);
}

/** The objects of both; an object of `own` replaces the same object of `shared`. */
export function mergeFixtures(shared: Fixtures, own: Fixtures): Fixtures {
  const merged: Record<string, readonly KubeObject[]> = { ...shared };
  for (const [watch, objects] of Object.entries(own)) {
    const below = Object.hasOwn(shared, watch) ? shared[watch]! : [];
    const replaced = new Set(objects.map(fixtureIdentity));
    merged[watch] = [...below.filter((object) => !replaced.has(fixtureIdentity(object))), ...objects];
  }
  return merged;
}

/** What templates ask with for the content of a URL: the same for all its spellings. */
export function contentKey(url: string): string {
  return new URL(url).href;
}

/** The contents of both; those of `own` replace those of the same URL. */
export function mergeContents(shared: readonly HttpResource[], own: readonly HttpResource[]): Contents {
  return new Map([...shared, ...own].map(({ url, content }) => [contentKey(url), content]));
}

/** `Ingress shop/web`, as messages name an object. */
export function fixtureName({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;
}
