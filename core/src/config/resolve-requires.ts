import {
  GLOBAL_TEST,
  type MergedConfig,
  type Origin,
  type ValidationTest,
  type WatchContent,
} from '../contract/config.ts';
import { Refused } from '../contract/errors.ts';
import { deepFreeze } from '../values/deep-freeze.ts';
import { digestOf, type Hash } from './digest.ts';
import { nullRecord } from './merge-named.ts';
import { parseRequirement, type Requirement } from './requirement.ts';

/** Answers whether a watch, or a field of it, is served where the controller runs. */
export type Served = (requirement: Requirement) => boolean;

/** Content that the configuration has and this cluster cannot use. */
export interface Dropped {
  readonly kind: string;
  readonly name: string;
  /** The source that it is from; watches may be of several. */
  readonly source?: string;
  /** The requirements that are not met. */
  readonly missing: readonly string[];
}

export interface Resolved {
  readonly config: MergedConfig;
  readonly dropped: readonly Dropped[];
}

type Contents<T> = Readonly<Record<string, T>>;

/** Members of a record that `missing` finds nothing against; the others are noted. */
function keep<T extends WatchContent | { readonly origin: Origin }>(
  kind: string,
  contents: Contents<T>,
  missing: (content: T, name: string) => readonly string[],
  dropped: Dropped[],
): Contents<T> {
  return nullRecord(
    Object.entries(contents).filter(([name, content]) => {
      const unmet = missing(content, name);
      if (unmet.length === 0) return true;
      const source = 'origin' in content ? { source: content.origin.source } : {};
      dropped.push({ kind, name, ...source, missing: unmet });
      return false;
    }),
  );
}

function refuseUnserved(watches: Contents<WatchContent>, isServed: (watch: string) => boolean): void {
  const problems = Object.entries(watches)
    .filter(([name, { optional }]) => !optional && !isServed(name))
    .map(([name, { resources, apiVersions }]) => ({
      where: `watchedResources.${name}`,
      message: `${resources} of ${apiVersions.join(' or ')} is not served, and the watch is not optional`,
    }));
  if (problems.length > 0) throw new Refused(problems);
}

type Unmet = (content: { readonly requires: readonly string[] }) => readonly string[];

/** A test whose own fixtures are of an unserved watch cannot be set up; of the shared fixtures, those of such a watch go alone. */
function resolveTests(
  tests: MergedConfig['validationTests'],
  unmet: Unmet,
  isServed: (watch: string) => boolean,
  dropped: Dropped[],
): MergedConfig['validationTests'] {
  const { [GLOBAL_TEST]: shared, ...own } = tests;
  const unmetByAll = shared === undefined ? [] : unmet(shared);
  const missing = (test: ValidationTest) => {
    const fixtures = Object.keys(test.fixtures).filter((watch) => !isServed(watch));
    return [...new Set([...unmet(test), ...unmetByAll, ...fixtures])];
  };
  const kept = Object.entries(keep('validationTests', own, missing, dropped));
  if (shared === undefined) return nullRecord(kept);
  const fixtures = nullRecord(Object.entries(shared.fixtures).filter(([watch]) => isServed(watch)));
  return nullRecord([[GLOBAL_TEST, { ...shared, fixtures }], ...kept]);
}

/**
 * The configuration without optional watches that are not served, and without what requires them.
 * @throws Refused when a watch that is not optional is not served.
 */
export function resolveRequires(config: MergedConfig, served: Served, hash: Hash): Resolved {
  const isServed = (watch: string) => served({ watch, field: [] });
  refuseUnserved(config.watchedResources, isServed);
  const dropped: Dropped[] = [];
  const unmet: Unmet = ({ requires }) =>
    requires.filter((text) => {
      const requirement = parseRequirement(text);
      return !isServed(requirement.watch) || !served(requirement);
    });
  const unservedWatch = (_: unknown, name: string) => (isServed(name) ? [] : [name]);
  const { digest: _digest, ...whole } = config;
  const resolved = {
    ...whole,
    watchedResources: keep<WatchContent>('watchedResources', config.watchedResources, unservedWatch, dropped),
    templateSnippets: keep('templateSnippets', config.templateSnippets, unmet, dropped),
    maps: keep('maps', config.maps, unmet, dropped),
    files: keep('files', config.files, unmet, dropped),
    sslCertificates: keep('sslCertificates', config.sslCertificates, unmet, dropped),
    k8sResources: keep('k8sResources', config.k8sResources, unmet, dropped),
    annotations: keep('annotations', config.annotations, unmet, dropped),
    validationTests: resolveTests(config.validationTests, unmet, isServed, dropped),
  };
  return { config: deepFreeze({ ...resolved, digest: digestOf(resolved, hash) }), dropped };
}
