import { GLOBAL_TEST, type Fixtures, type HttpResource, type ValidationTest } from '../contract/config.ts';
import type { KubeObject } from '../contract/object.ts';
import { contentKey, fixtureIdentity, fixtureName } from './fixtures.ts';
import { mergeGlobalSettings } from './merge-global-settings.ts';
import { definedIn, nullRecord, twice, type MergeReport } from './merge-named.ts';
import { originAt, problemAt, type ParsedSource } from './parse-source.ts';

/** The schema has seen to the members that it reads; the rest of an object is its author's. */
function fixturesOf(fixtures: object): Fixtures {
  return fixtures as Fixtures;
}

/** Adds one source's objects of the shared test to those of the sources before it. */
function addGlobalFixtures(
  parsed: ParsedSource,
  seen: Map<string, ParsedSource>,
  all: Map<string, KubeObject[]>,
  { problems }: MergeReport,
): void {
  for (const [watch, objects] of Object.entries(
    fixturesOf(parsed.content.validationTests[GLOBAL_TEST]?.fixtures ?? {}),
  )) {
    const list = all.get(watch) ?? [];
    all.set(watch, list);
    for (const [index, object] of objects.entries()) {
      const identity = `${watch} ${fixtureIdentity(object)}`;
      const first = seen.get(identity);
      if (first !== undefined && first !== parsed) {
        const path = ['validationTests', GLOBAL_TEST, 'fixtures', watch, index];
        const also = definedIn(first, ['validationTests', GLOBAL_TEST, 'fixtures', watch]);
        problems.push(
          problemAt(parsed.source, path, `${fixtureName(object)} is also a shared fixture of ${also}`),
        );
        continue;
      }
      seen.set(identity, parsed);
      list.push(object);
    }
  }
}

/** Adds one source's contents of the shared test; one URL has one content, whoever says it. */
function addGlobalContents(parsed: ParsedSource, all: Map<string, HttpResource>, report: MergeReport): void {
  const own = parsed.content.validationTests[GLOBAL_TEST]?.httpResources ?? [];
  for (const [index, resource] of own.entries()) {
    const key = contentKey(resource.url);
    if (all.has(key)) {
      const path = ['validationTests', GLOBAL_TEST, 'httpResources', index];
      report.problems.push(problemAt(parsed.source, path, `${resource.url} has a shared content already`));
    }
    all.set(key, resource);
  }
}

/** The shared test of all sources: objects, contents, settings and requirements accumulate. */
function mergeGlobal(sources: readonly ParsedSource[], report: MergeReport): ValidationTest | undefined {
  const contributors = sources.filter(({ content }) => content.validationTests[GLOBAL_TEST] !== undefined);
  const first = contributors[0];
  if (first === undefined) return undefined;
  const seen = new Map<string, ParsedSource>();
  const fixtures = new Map<string, KubeObject[]>();
  const contents = new Map<string, HttpResource>();
  const requires = new Set<string>();
  for (const parsed of contributors) {
    addGlobalFixtures(parsed, seen, fixtures, report);
    addGlobalContents(parsed, contents, report);
    for (const name of parsed.content.validationTests[GLOBAL_TEST]!.requires) requires.add(name);
  }
  return {
    fixtures: nullRecord(fixtures),
    httpResources: [...contents.values()],
    settings: mergeGlobalSettings(contributors, report),
    requires: [...requires],
    assertions: [],
    origin: originAt(first.source, ['validationTests', GLOBAL_TEST]),
  };
}

/** One object twice in one list: which of them a template saw would be chance. */
function refuseTwins(parsed: ParsedSource, test: string, { problems }: MergeReport): void {
  for (const [watch, objects] of Object.entries(fixturesOf(parsed.content.validationTests[test]!.fixtures))) {
    const seen = new Set<string>();
    for (const [index, object] of objects.entries()) {
      const identity = fixtureIdentity(object);
      const path = ['validationTests', test, 'fixtures', watch, index];
      if (seen.has(identity))
        problems.push(problemAt(parsed.source, path, `${fixtureName(object)} stands twice in this list`));
      seen.add(identity);
    }
  }
}

/** One URL twice in one list. */
function refuseTwinContents(parsed: ParsedSource, test: string, { problems }: MergeReport): void {
  const seen = new Set<string>();
  for (const [index, { url }] of parsed.content.validationTests[test]!.httpResources.entries()) {
    const path = ['validationTests', test, 'httpResources', index, 'url'];
    if (seen.has(contentKey(url)))
      problems.push(problemAt(parsed.source, path, `${url} stands twice in this list`));
    seen.add(contentKey(url));
  }
}

/** Tests are united, never blended: a name belongs to one source, whoever it is; the shared test alone accumulates. */
export function mergeTests(
  sources: readonly ParsedSource[],
  report: MergeReport,
): Readonly<Record<string, ValidationTest>> {
  const owners = new Map<string, ParsedSource>();
  const merged = new Map<string, ValidationTest>();
  const shared = mergeGlobal(sources, report);
  if (shared !== undefined) merged.set(GLOBAL_TEST, shared);
  for (const parsed of sources) {
    for (const [name, test] of Object.entries(parsed.content.validationTests)) {
      refuseTwins(parsed, name, report);
      if (name !== GLOBAL_TEST) refuseTwinContents(parsed, name, report);
      if (name === GLOBAL_TEST || test === undefined || !('assertions' in test)) continue;
      const first = owners.get(name);
      if (first !== undefined) {
        report.problems.push(
          twice(first, parsed, ['validationTests', name], 'tests are never merged nor overridden'),
        );
        continue;
      }
      owners.set(name, parsed);
      const origin = originAt(parsed.source, ['validationTests', name]);
      merged.set(name, { ...test, fixtures: nullRecord(Object.entries(fixturesOf(test.fixtures))), origin });
    }
  }
  return nullRecord(merged);
}
