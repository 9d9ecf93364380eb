import type { Origin, Override } from '../contract/config.ts';
import type { Problem } from '../contract/errors.ts';
import { originAt, problemAt, sourceName, type ParsedSource } from './parse-source.ts';
import type { ParsedContent } from './source-schema.ts';

/** Kinds of content that have names; a library may not replace another's. */
export type NamedKind =
  'templateSnippets' | 'maps' | 'files' | 'sslCertificates' | 'k8sResources' | 'annotations';

/** What merging finds besides its result. */
export interface MergeReport {
  readonly problems: Problem[];
  readonly overrides: Override[];
}

/**
 * A record that no name can confuse: `toString` is in it only when somebody called something so. In order of names, because the
 * order in which somebody wrote them means nothing.
 */
export function nullRecord<T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> {
  const record: Record<string, T> = Object.create(null) as Record<string, T>;
  for (const [name, value] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) record[name] = value;
  return record;
}

/** Where a source defines something, for a message about another. */
export function definedIn({ source }: ParsedSource, path: readonly string[]): string {
  const position = source.locate?.(path, 'key');
  return position === undefined
    ? sourceName(source)
    : `${sourceName(source)} (${position.file}:${position.line}:${position.column})`;
}

export function twice(
  first: ParsedSource,
  second: ParsedSource,
  path: readonly string[],
  rule: string,
): Problem {
  const places = `${definedIn(first, path)} and ${sourceName(second.source)}`;
  return problemAt(second.source, path, `defined by both ${places}; ${rule}`, 'key');
}

type Content<K extends NamedKind> = ParsedContent[K][string];

/** One kind of named content of all sources: a name of two libraries is a problem, the config may replace any library's. */
export function mergeNamed<K extends NamedKind>(
  kind: K,
  sources: readonly ParsedSource[],
  { problems, overrides }: MergeReport,
): Readonly<Record<string, Content<K> & { readonly origin: Origin }>> {
  const owners = new Map<string, ParsedSource>();
  const merged = new Map<string, Content<K> & { readonly origin: Origin }>();
  for (const parsed of sources) {
    const contents = Object.entries(parsed.content[kind]) as [string, Content<K>][];
    for (const [name, content] of contents) {
      const first = owners.get(name);
      if (first !== undefined) {
        if (parsed.source.kind === 'config') {
          overrides.push({ kind, name, of: first.source.name, by: parsed.source.name });
        } else {
          problems.push(twice(first, parsed, [kind, name], 'only the config may override'));
          continue;
        }
      }
      owners.set(name, parsed);
      const text = 'template' in content ? [kind, name, 'template'] : [kind, name];
      merged.set(name, { ...content, origin: originAt(parsed.source, text) });
    }
  }
  return nullRecord(merged);
}
