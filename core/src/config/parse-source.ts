import type { z } from 'zod';
import type { ConfigSource, ControllerSettings, Origin } from '../contract/config.ts';
import { Refused, type Problem } from '../contract/errors.ts';
import { jsonProblems } from './json-problems.ts';
import { schemaProblems, type PathProblem } from './schema-problems.ts';
import {
  configSchemaWith,
  librarySchema,
  type OwnedKey,
  type ParsedConfig,
  type ParsedContent,
} from './source-schema.ts';

/** A source whose spec has passed its schema, defaults filled in. */
export interface ParsedSource {
  readonly source: ConfigSource;
  readonly content: ParsedContent;
  /** Of the config only. */
  readonly controller?: ControllerSettings;
  /** Values of the keys that plugins own; none in a library. */
  readonly owned: Readonly<Record<string, unknown>>;
}

type Path = readonly (string | number)[];

export function sourceName(source: ConfigSource): string {
  return `${source.kind} ${source.name}`;
}

/** Whose content stands at `path`, and where its text begins. */
export function originAt(source: ConfigSource, path: Path): Origin {
  const position = source.locate?.(path);
  return { kind: source.kind, source: source.name, ...(position === undefined ? {} : { position }) };
}

/** A problem with the place where it stands, or as near to it as the source knows. */
export function problemAt(
  source: ConfigSource,
  path: Path,
  message: string,
  of: 'key' | 'value' = 'value',
): Problem {
  const text = path.length === 0 ? message : `${path.join('.')}: ${message}`;
  const position = source.locate?.(path, of);
  if (position === undefined) return { where: sourceName(source), message: text };
  const excerpt = source.excerpt?.(position);
  return {
    where: `${position.file}:${position.line}:${position.column}`,
    message: text,
    ...(excerpt === undefined ? {} : { excerpt }),
  };
}

/** A key of the config kind in a library is not misspelt but misplaced. */
function misplaced(source: ConfigSource, problem: PathProblem, configKeys: readonly string[]): PathProblem {
  const [key, ...rest] = problem.path;
  if (
    source.kind === 'config' ||
    problem.of !== 'key' ||
    rest.length > 0 ||
    !configKeys.includes(String(key))
  ) {
    return problem;
  }
  return { ...problem, message: `"${key}" belongs in the config: a library holds content only` };
}

/**
 * Judges the spec of one source and fills in its defaults. `owned` are the keys that plugins own in the config kind.
 * @throws Refused with all problems.
 */
export function parseSource(source: ConfigSource, owned: readonly OwnedKey[]): ParsedSource {
  const configSchema = configSchemaWith(owned);
  const schema: z.ZodType = source.kind === 'config' ? configSchema : librarySchema;
  const unclean = jsonProblems(source.spec);
  // A copy, because the merged configuration is frozen and what a source keeps is its own.
  const result = schema.safeParse(unclean.length === 0 ? structuredClone(source.spec) : source.spec);
  const wrong = result.success ? [] : schemaProblems(schema, result.error, source.spec);
  const problems = [...unclean, ...wrong].map((problem) => {
    const { path, message, of } = misplaced(source, problem, Object.keys(configSchema.shape));
    return problemAt(source, path, message, of);
  });
  if (problems.length > 0) throw new Refused(problems);
  const data = result.data as ParsedConfig & Readonly<Record<string, unknown>>;
  if (source.kind === 'library') return { source, content: data, owned: {} };
  const values = owned.map(({ key }) => [key, data[key]] as const).filter(([, value]) => value !== undefined);
  return { source, content: data, controller: data.controller, owned: Object.fromEntries(values) };
}
