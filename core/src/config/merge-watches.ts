import type { WatchContent } from '../contract/config.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import { nullRecord, twice, type MergeReport } from './merge-named.ts';
import { problemAt, type ParsedSource } from './parse-source.ts';
import type { ParsedWatch } from './watch-schema.ts';

/** Definitions are equal whatever the order of their paths and namespaces; API versions stand in order of preference. */
function identity(watch: ParsedWatch): string {
  const { indexBy, ignoreFields, namespaces } = watch;
  return canonicalJson({
    ...watch,
    indexBy: indexBy.toSorted(),
    ignoreFields: ignoreFields.toSorted(),
    namespaces: namespaces.toSorted(),
  });
}

/** Endpoints move all the time and traffic waits for them. */
function defaultDebounce(watch: ParsedWatch, usual: number): number {
  return watch.resources === 'endpointslices' ? 0 : usual;
}

/** Equal definitions of a watch unite, different ones of two libraries are a problem, the config may replace any library's. */
export function mergeWatches(
  sources: readonly ParsedSource[],
  usualDebounce: number,
  { problems, overrides }: MergeReport,
): Readonly<Record<string, WatchContent>> {
  const merged = new Map<string, { readonly owner: ParsedSource; readonly watch: ParsedWatch }>();
  for (const parsed of sources) {
    for (const [name, watch] of Object.entries(parsed.content.watchedResources)) {
      const first = merged.get(name);
      if (first !== undefined && identity(first.watch) === identity(watch)) continue;
      if (first !== undefined && parsed.source.kind === 'library') {
        const rule = 'different definitions of one watch do not unite';
        problems.push(twice(first.owner, parsed, ['watchedResources', name], rule));
        continue;
      }
      if (first !== undefined) {
        const of = first.owner.source.name;
        overrides.push({ kind: 'watchedResources', name, of, by: parsed.source.name });
      }
      merged.set(name, { owner: parsed, watch });
    }
  }
  if (merged.size === 0) {
    problems.push(
      problemAt(sources.at(-1)!.source, [], 'no source declares watchedResources: there is nothing to route'),
    );
  }
  return nullRecord(
    Array.from(merged, ([name, { watch }]) => {
      return [name, { ...watch, debounce: watch.debounce ?? defaultDebounce(watch, usualDebounce) }] as const;
    }),
  );
}
