import type { ConfigSet, ConfigSource, MergedConfig, Override } from '../contract/config.ts';
import { Bug, Refused, type Problem } from '../contract/errors.ts';
import { mergeJson } from '../contract/merge-json.ts';
import { checkReferences, checkSkippedTests } from './check-references.ts';
import { deepFreeze } from '../values/deep-freeze.ts';
import { digestOf, type Hash } from './digest.ts';
import { mergeMainTemplate } from './merge-main-template.ts';
import { mergeNamed, type MergeReport } from './merge-named.ts';
import { mergeTests } from './merge-tests.ts';
import { mergeWatches } from './merge-watches.ts';
import { parseSource, problemAt, type ParsedSource } from './parse-source.ts';
import type { OwnedKey } from './source-schema.ts';

/** The order of a set is a promise of whoever provides it, not something that a user wrote. */
function checkOrder(sources: readonly ConfigSource[]): void {
  const configs = sources.filter(({ kind }) => kind === 'config');
  if (configs.length !== 1 || sources.at(-1)!.kind !== 'config') {
    throw new Bug(
      `a config set is libraries and then one config, got: ${sources.map(({ kind }) => kind).join(', ')}`,
    );
  }
}

function byKindAndName(a: Override, b: Override): number {
  const [left, right] = [`${a.kind} ${a.name}`, `${b.kind} ${b.name}`];
  return left < right ? -1 : Number(left > right);
}

function parseAll(sources: readonly ConfigSource[], owned: readonly OwnedKey[]): readonly ParsedSource[] {
  const problems: Problem[] = [];
  const names = new Set<string>();
  const parsed = sources.flatMap((source) => {
    if (source.kind === 'library' && names.has(source.name)) {
      problems.push(problemAt(source, [], `library "${source.name}" stands twice in the set`));
    }
    names.add(source.name);
    try {
      return [parseSource(source, owned)];
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      problems.push(...error.problems);
      return [];
    }
  });
  if (problems.length > 0) throw new Refused(problems);
  return parsed;
}

/**
 * Merges a set to the one configuration. Pure: the result depends on the order of the sources and on nothing else.
 * @throws Refused with all problems of all sources; problems between sources come when each is right by itself.
 */
export function mergeSources(set: ConfigSet, owned: readonly OwnedKey[], hash: Hash): MergedConfig {
  checkOrder(set.sources);
  const sources = parseAll(set.sources, owned);
  const config = sources.at(-1)!;
  const report: MergeReport = { problems: [], overrides: [] };
  const haproxyConfig = mergeMainTemplate(sources, report);
  const controller = config.controller!;
  const watchedResources = mergeWatches(sources, controller.debounce, report);
  const contents = {
    templateSnippets: mergeNamed('templateSnippets', sources, report),
    maps: mergeNamed('maps', sources, report),
    files: mergeNamed('files', sources, report),
    sslCertificates: mergeNamed('sslCertificates', sources, report),
    k8sResources: mergeNamed('k8sResources', sources, report),
    annotations: mergeNamed('annotations', sources, report),
    validationTests: mergeTests(sources, report),
  };
  checkReferences(sources, watchedResources, report.problems);
  checkSkippedTests(config, contents.validationTests, report.problems);
  if (haproxyConfig === undefined || report.problems.length > 0) throw new Refused(report.problems);
  const merged = {
    ...contents,
    haproxyConfig,
    watchedResources,
    settings: sources.map(({ content }) => content.settings).reduce(mergeJson, {}),
    controller,
    owned: config.owned,
    overrides: report.overrides.toSorted(byKindAndName),
  };
  return deepFreeze({ ...merged, digest: digestOf(merged, hash) });
}
