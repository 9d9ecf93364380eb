import { parseAllDocuments } from 'yaml';
import { deepFreeze } from '../values/deep-freeze.ts';
import { isJsonObject, type JsonObject, type Provenance } from '../contract/index.ts';
import type { RenderOutput } from '../templates/output.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import type { Problems } from './problems.ts';

interface Identified {
  readonly key: string;
  readonly resource: JsonObject;
  readonly provenance: Provenance;
}

function identify(value: unknown): { readonly key: string; readonly resource: JsonObject } | undefined {
  if (!isJsonObject(value)) return undefined;
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  if (!isJsonObject(metadata ?? null)) return undefined;
  const { name, namespace = '' } = metadata as JsonObject;
  if (typeof name !== 'string' || typeof namespace !== 'string') return undefined;
  return { key: canonicalJson([apiVersion, kind, namespace, name]), resource: deepFreeze(value) };
}

function parse(
  { name, text, provenance }: RenderOutput['k8sResources'][number],
  problems: Problems,
): readonly Identified[] {
  const documents = parseAllDocuments(text, { stringKeys: true });
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document): readonly Identified[] => {
    const [error] = document.errors;
    if (error !== undefined) {
      problems.add(provenance, `resource "${name}" is no YAML: ${error.message}`);
      return [];
    }
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    if (value === null || value === undefined) return [];
    const identified = identify(value);
    if (identified !== undefined) return [{ ...identified, provenance }];
    problems.add(provenance, `resource "${name}" must have apiVersion, kind and metadata.name`);
    return [];
  });
}

export interface BuiltResources {
  /** All objects, in canonical order. */
  readonly all: readonly JsonObject[];
  /** Those of each template, in its own order. */
  readonly byTemplate: ReadonlyMap<string, readonly JsonObject[]>;
}

/** The Kubernetes objects that templates declare. */
export function buildResources(declared: RenderOutput['k8sResources'], problems: Problems): BuiltResources {
  const found = new Map<string, Identified>();
  const byTemplate = new Map<string, readonly JsonObject[]>();
  for (const declaration of declared) {
    const made = parse(declaration, problems);
    byTemplate.set(declaration.name, Object.freeze(made.map(({ resource }) => resource)));
    for (const resource of made) {
      const first = found.get(resource.key);
      if (first === undefined) found.set(resource.key, resource);
      else problems.twice(`resource ${resource.key}`, first.provenance, resource.provenance);
    }
  }
  const all = [...found.values()].sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ resource }) => resource);
  return { all: Object.freeze(all), byTemplate };
}

/** Values in canonical order, each once: what several routes say about one object need not be said twice. */
export function distinct<T>(values: readonly T[]): readonly T[] {
  const byText = new Map(values.map((value) => [canonicalJson(value), value]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}
