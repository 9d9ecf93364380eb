import {
  isJsonObject,
  Refused,
  type JsonObject,
  type KubeObject,
  type ObjectProblem,
  type Position,
  type Problem,
} from '@haptic/core/contract';
import type { YamlDocument } from '../yaml/documents.ts';
import { isClusterScoped } from './kinds.ts';

/** A Kubernetes object and where it is written. */
export interface LocatedObject {
  readonly object: KubeObject;
  /** Equal for what an API server would take for one object, whatever its version. */
  readonly identity: string;
  readonly position: Position;
}

/** What keeps an object from being taken, as an API server would say it. */
export type Admission = (object: KubeObject) => readonly ObjectProblem[];

type Path = readonly (string | number)[];

interface Reading {
  readonly document: YamlDocument;
  readonly admission: Admission;
  readonly problems: Problem[];
  readonly objects: LocatedObject[];
}

function refuse({ document, problems }: Reading, path: Path, message: string): void {
  const position = document.locate(path);
  const { file, line, column } = position;
  problems.push({ where: `${file}:${line}:${column}`, message, excerpt: document.excerpt(position) });
}

const REQUIRED: readonly Path[] = [['apiVersion'], ['kind'], ['metadata', 'name']];

function textAt(value: JsonObject, path: Path): unknown {
  let current: unknown = value;
  for (const segment of path) current = isJsonObject(current) ? current[segment] : undefined;
  return current;
}

function identityOf({ apiVersion, kind, metadata }: KubeObject): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return [group, kind, metadata.namespace ?? '', metadata.name].join('\0');
}

/** As the API server would store it: in the namespace `default` when it says none, in none when its kind has none. */
function placed(object: KubeObject): KubeObject {
  const { namespace = 'default', ...metadata } = object.metadata;
  return { ...object, metadata: isClusterScoped(object.kind) ? metadata : { ...metadata, namespace } };
}

function refuseInadmissible(reading: Reading, object: KubeObject, path: Path): void {
  const { kind, metadata } = object;
  for (const problem of reading.admission(object)) {
    const field = problem.path.join('.');
    refuse(reading, [...path, ...problem.path], `${kind} ${metadata.name}: ${field}: ${problem.message}`);
  }
}

function readObject(reading: Reading, value: JsonObject, path: Path): void {
  const missing = REQUIRED.filter((field) => {
    const text = textAt(value, field);
    return typeof text !== 'string' || text === '';
  });
  for (const field of missing) {
    refuse(reading, [...path, ...field], `no Kubernetes object: ${field.join('.')} is missing or no text`);
  }
  const namespace = textAt(value, ['metadata', 'namespace']);
  if (namespace !== undefined && (typeof namespace !== 'string' || namespace === '')) {
    refuse(reading, [...path, 'metadata', 'namespace'], 'metadata.namespace is no text');
  } else if (missing.length === 0) {
    const object = placed(value as unknown as KubeObject);
    refuseInadmissible(reading, object, path);
    reading.objects.push({ object, identity: identityOf(object), position: reading.document.locate(path) });
  }
}

function readItems(reading: Reading, list: JsonObject, items: readonly unknown[], path: Path): void {
  const kind =
    typeof list['kind'] === 'string' && list['kind'] !== 'List'
      ? list['kind'].slice(0, -'List'.length)
      : undefined;
  for (const [index, item] of items.entries()) {
    // Items of a typed list need not repeat what the list says.
    const typed =
      kind !== undefined && isJsonObject(item) ? { apiVersion: list['apiVersion'], kind, ...item } : item;
    readValue(reading, typed, [...path, 'items', index]);
  }
}

function readValue(reading: Reading, value: unknown, path: Path): void {
  if (!isJsonObject(value)) {
    refuse(reading, path, 'no Kubernetes object: expected a mapping');
    return;
  }
  const { kind, items } = value;
  const isList = typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items);
  if (isList) readItems(reading, value, items, path);
  else readObject(reading, value, path);
}

function refuseTwins(objects: readonly LocatedObject[], problems: Problem[]): void {
  const seen = new Map<string, LocatedObject>();
  for (const located of objects) {
    const first = seen.get(located.identity);
    if (first !== undefined) problems.push(twiceProblem(first, located));
    seen.set(located.identity, located);
  }
}

function placeOf({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}

export function twiceProblem(first: LocatedObject, second: LocatedObject): Problem {
  const { kind, metadata } = second.object;
  const name = `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;
  return {
    where: placeOf(second.position),
    message: `${name} is already defined at ${placeOf(first.position)}`,
  };
}

/**
 * The Kubernetes objects of a file's documents, lists flattened.
 * @throws Refused with all that is no object, is not admitted, or stands there twice.
 */
export function readObjects(
  documents: readonly YamlDocument[],
  admission: Admission,
): readonly LocatedObject[] {
  const problems: Problem[] = [];
  const objects: LocatedObject[] = [];
  for (const document of documents) readValue({ document, admission, problems, objects }, document.value, []);
  refuseTwins(objects, problems);
  if (problems.length > 0) throw new Refused(problems);
  return objects;
}
