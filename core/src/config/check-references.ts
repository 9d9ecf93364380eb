import { GLOBAL_TEST, type Fixtures, type ValidationTest, type WatchContent } from '../contract/config.ts';
import { Refused, type Problem } from '../contract/errors.ts';
import { didYouMean } from '../contract/nearest.ts';
import { problemAt, type ParsedSource } from './parse-source.ts';
import { parseRequirement } from './requirement.ts';

type Watches = Readonly<Record<string, WatchContent>>;

interface Requiring {
  readonly requires: readonly string[];
}

const REQUIRING = [
  'templateSnippets',
  'maps',
  'files',
  'sslCertificates',
  'k8sResources',
  'annotations',
  'validationTests',
] as const;

function unknownWatch(name: string, watches: Watches): string {
  return `no watch "${name}" in watchedResources${didYouMean(name, Object.keys(watches))}`;
}

function requirementProblem(text: string, watches: Watches): string | undefined {
  try {
    const { watch } = parseRequirement(text);
    return watch in watches ? undefined : unknownWatch(watch, watches);
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

function checkRequires({ source, content }: ParsedSource, watches: Watches, problems: Problem[]): void {
  for (const kind of REQUIRING) {
    const contents: [string, Requiring][] = Object.entries(content[kind]);
    for (const [name, { requires }] of contents) {
      for (const [index, text] of requires.entries()) {
        const message = requirementProblem(text, watches);
        if (message !== undefined) problems.push(problemAt(source, [kind, name, 'requires', index], message));
      }
    }
  }
}

function checkFixtures({ source, content }: ParsedSource, watches: Watches, problems: Problem[]): void {
  const tests: [string, { readonly fixtures: object }][] = Object.entries(content.validationTests);
  for (const [test, { fixtures }] of tests) {
    for (const [watch, objects] of Object.entries(fixtures as Fixtures)) {
      const path = ['validationTests', test, 'fixtures', watch];
      const versions = watches[watch]?.apiVersions;
      if (versions === undefined) {
        problems.push(problemAt(source, path, unknownWatch(watch, watches), 'key'));
        continue;
      }
      for (const [index, { apiVersion }] of objects.entries()) {
        if (versions.includes(apiVersion)) continue;
        const message = `watch "${watch}" holds objects of ${versions.join(' or ')}, not of ${apiVersion}`;
        problems.push(problemAt(source, [...path, index, 'apiVersion'], message));
      }
    }
  }
}

/** Judges what sources say of watches, which may be another source's: known only when all are merged. */
export function checkReferences(
  sources: readonly ParsedSource[],
  watches: Watches,
  problems: Problem[],
): void {
  for (const parsed of sources) {
    checkRequires(parsed, watches, problems);
    checkFixtures(parsed, watches, problems);
  }
}

/** A config may leave out tests of libraries, since it overrides what they are about. Its own it can change. */
export function checkSkippedTests(
  { source, controller, content }: ParsedSource,
  tests: Readonly<Record<string, ValidationTest>>,
  problems: Problem[],
): void {
  const names = Object.keys(tests).filter(
    (name) => name !== GLOBAL_TEST && !Object.hasOwn(content.validationTests, name),
  );
  for (const [index, name] of (controller?.skipTests ?? []).entries()) {
    if (names.includes(name)) continue;
    const isOwn = Object.hasOwn(content.validationTests, name) && name !== GLOBAL_TEST;
    const message = isOwn
      ? `"${name}" is a test of this configuration: remove it instead`
      : `no library has a test "${name}"${didYouMean(name, names)}`;
    problems.push(problemAt(source, ['controller', 'skipTests', index], message));
  }
}
