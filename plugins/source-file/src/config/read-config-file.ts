import { basename } from 'node:path';
import {
  didYouMean,
  isJsonObject,
  Refused,
  type ConfigSource,
  type JsonObject,
  type Problem,
} from '@haptic/core/contract';
import type { YamlDocument } from '../yaml/documents.ts';

const API_VERSION = 'haproxy-haptic.org/v1alpha1';
const KINDS = { HAProxyTemplateConfig: 'config', HAProxyTemplateLibrary: 'library' } as const;

export interface LibraryRef {
  readonly name: string;
  readonly revision: string;
}

/** A library or config as a file holds it. */
export interface ConfigDocument {
  readonly source: ConfigSource;
  /** `file:line:column` of its beginning. */
  readonly where: string;
  /** Of a library; a bare library file has none. */
  readonly revision?: string;
  /** Of a config. What is wrong with them the schema says later. */
  readonly refs: readonly LibraryRef[];
}

type Path = readonly (string | number)[];

function whereOf(document: YamlDocument, path: Path): string {
  const { file, line, column } = document.locate(path);
  return `${file}:${line}:${column}`;
}

function problem(document: YamlDocument, path: Path, message: string): Problem {
  return { where: whereOf(document, path), message, excerpt: document.excerpt(document.locate(path)) };
}

/** A source whose paths begin at `root` of the document. */
function sourceOf(
  document: YamlDocument,
  root: Path,
  source: Pick<ConfigSource, 'kind' | 'name' | 'spec'>,
): ConfigSource {
  return {
    ...source,
    locate: (path, of) => document.locate([...root, ...path], of),
    excerpt: (position) => document.excerpt(position),
  };
}

function refsOf(spec: unknown): readonly LibraryRef[] {
  const refs = isJsonObject(spec) ? spec['libraryRefs'] : undefined;
  if (!Array.isArray(refs)) return [];
  return refs.filter(isJsonObject).filter(({ name }) => typeof name === 'string') as unknown as LibraryRef[];
}

function objectProblems(
  document: YamlDocument,
  { apiVersion, kind, metadata }: JsonObject,
): readonly Problem[] {
  const problems: Problem[] = [];
  const kinds = Object.keys(KINDS);
  if (typeof kind !== 'string' || !Object.hasOwn(KINDS, kind)) {
    const hint = typeof kind === 'string' ? didYouMean(kind, kinds) : '';
    problems.push(
      problem(document, ['kind'], `expected kind ${kinds.join(' or ')}, got ${JSON.stringify(kind)}${hint}`),
    );
  }
  if (apiVersion !== API_VERSION) {
    problems.push(
      problem(
        document,
        ['apiVersion'],
        `expected apiVersion ${API_VERSION}, got ${JSON.stringify(apiVersion)}`,
      ),
    );
  }
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string' || name === '')
    problems.push(problem(document, ['metadata', 'name'], 'expected metadata.name'));
  return problems;
}

/** An object as one would apply it to a cluster. */
function readConfigObject(document: YamlDocument, value: JsonObject): ConfigDocument {
  const problems = objectProblems(document, value);
  if (problems.length > 0) throw new Refused(problems);
  const kind = KINDS[value['kind'] as keyof typeof KINDS];
  const { name } = value['metadata'] as { readonly name: string };
  const { spec } = value;
  const source = sourceOf(document, ['spec'], { kind, name, spec });
  const revision = isJsonObject(spec) ? spec['revision'] : undefined;
  return {
    source,
    where: whereOf(document, []),
    ...(typeof revision === 'string' ? { revision } : {}),
    refs: kind === 'config' ? refsOf(spec) : [],
  };
}

function readConfigDocument(path: string, document: YamlDocument, alone: boolean): ConfigDocument {
  const { value } = document;
  if (isJsonObject(value) && ('apiVersion' in value || 'kind' in value))
    return readConfigObject(document, value);
  if (!alone) {
    const message =
      'expected an object with apiVersion and kind: the spec of a library stands in a file of its own';
    throw new Refused([problem(document, [], message)]);
  }
  const name = basename(path).replace(/\.[^.]+$/, '');
  return {
    source: sourceOf(document, [], { kind: 'library', name, spec: value }),
    where: whereOf(document, []),
    refs: [],
  };
}

/**
 * The libraries and configs of one file: objects as one would apply them to a cluster, or the bare spec of one library, which
 * is then called like the file.
 * @throws Refused with all that is neither.
 */
export function readConfigFile(path: string, documents: readonly YamlDocument[]): readonly ConfigDocument[] {
  const problems: Problem[] = [];
  const read = documents.flatMap((document) => {
    try {
      return [readConfigDocument(path, document, documents.length === 1)];
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      problems.push(...error.problems);
      return [];
    }
  });
  if (problems.length > 0) throw new Refused(problems);
  return read;
}
