import { GLOBAL_TEST } from '../contract/config.ts';
import { isJsonObject, mergeJson } from '../contract/merge-json.ts';
import type { Json, JsonObject } from '../contract/object.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import { definedIn, type MergeReport } from './merge-named.ts';
import { problemAt, type ParsedSource } from './parse-source.ts';

type Path = readonly string[];

const ROOT: Path = ['validationTests', GLOBAL_TEST, 'settings'];

/** Paths at which the two give one leaf two values; two objects have no leaf in common but inside. */
function conflicts(a: JsonObject, b: JsonObject, path: Path): readonly Path[] {
  return Object.keys(b).flatMap((key): readonly Path[] => {
    if (!Object.hasOwn(a, key)) return [];
    const [left, right]: [Json | undefined, Json | undefined] = [a[key], b[key]];
    if (isJsonObject(left) && isJsonObject(right)) return conflicts(left, right, [...path, key]);
    return canonicalJson(left) === canonicalJson(right) ? [] : [[...path, key]];
  });
}

/** Settings of the shared tests of all sources; none wins over another. */
export function mergeGlobalSettings(
  contributors: readonly ParsedSource[],
  { problems }: MergeReport,
): JsonObject {
  const settingsOf = ({ content }: ParsedSource) => content.validationTests[GLOBAL_TEST]!.settings;
  let merged: JsonObject = {};
  for (const [index, parsed] of contributors.entries()) {
    const settings = settingsOf(parsed);
    for (const earlier of contributors.slice(0, index)) {
      for (const path of conflicts(settingsOf(earlier), settings, ROOT)) {
        const message = `${definedIn(earlier, path)} gives it another value for all tests`;
        problems.push(problemAt(parsed.source, path, message));
      }
    }
    merged = mergeJson(merged, settings);
  }
  return merged;
}
