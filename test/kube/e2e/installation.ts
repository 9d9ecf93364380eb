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

/** What a Helm install would write of the configuration. */
export function installation(namespace: string, settings: object): readonly Manifest[] {
  const libraries = LIBRARIES.map((name) => libraryObject(namespace, name));
  return [...libraries, configObject(namespace, libraries, { settings })];
}
