import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The chart's default libraries, in merge order. */
const LIBRARIES = ['base', 'ingress'] as const;

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: object;
}

const apiVersion = 'haproxy-haptic.org/v1alpha1';

/** A library as the chart makes it of its file: its revision says what it holds. */
export function libraryObject(namespace: string, name: string, change: object = {}): Manifest {
  const text = readFileSync(new URL(`../../../chart/libraries/${name}.yaml`, import.meta.url), 'utf8');
  const spec = { ...(parse(text) as object), ...change };
  const revision = `${name}-${createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 16)}`;
  return {
    apiVersion,
    kind: 'HAProxyTemplateLibrary',
    metadata: { name, namespace },
    spec: { revision, ...spec },
  };
}

/** The config over these libraries. */
export function configObject(namespace: string, libraries: readonly Manifest[], content: object): Manifest {
  const libraryRefs = libraries.map(({ metadata: { name }, spec }) => ({
    name,
    revision: (spec as { readonly revision: string }).revision,
  }));
  return {
    apiVersion,
    kind: 'HAProxyTemplateConfig',
    metadata: { name: 'haptic', namespace },
    spec: { libraryRefs, ...content },
  };
}

/** Of which namespaces objects are watched. A cluster that tests share is full of Ingresses of others. */
export type Watched = 'its own' | 'all';

/** All of the chart's. */
export function libraryObjects(namespace: string, watched: Watched = 'its own'): readonly Manifest[] {
  return LIBRARIES.map((name) => {
    const library = libraryObject(namespace, name);
    return watched === 'all' ? library : libraryObject(namespace, name, onlyIn(namespace, library));
  });
}

/** What a Helm install would write of the configuration. */
export function installation(namespace: string, settings: object, watched?: Watched): readonly Manifest[] {
  const libraries = libraryObjects(namespace, watched);
  return [...libraries, configObject(namespace, libraries, { settings })];
}

/** Namespaces matter to no cluster-wide kind. */
function onlyIn(namespace: string, { spec }: Manifest): object {
  const { watchedResources = {} } = spec as { readonly watchedResources?: Readonly<Record<string, object>> };
  const entries = Object.entries(watchedResources);
  return {
    watchedResources: Object.fromEntries(
      entries.map(([name, watch]) => [name, { ...watch, namespaces: [namespace] }]),
    ),
  };
}
