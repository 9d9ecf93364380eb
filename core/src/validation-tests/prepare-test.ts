import { mergeContents, mergeFixtures } from '../config/fixtures.ts';
import { GLOBAL_TEST, type Fixtures, type MergedConfig, type ValidationTest } from '../contract/config.ts';
import type { Contents } from '../contract/contents.ts';
import { Refused } from '../contract/errors.ts';
import { mergeJson } from '../contract/merge-json.ts';
import { didYouMean } from '../contract/nearest.ts';
import type { JsonObject } from '../contract/object.ts';

/** One test with everything that it shares with others filled in. */
export interface PreparedTest {
  readonly name: string;
  readonly test: ValidationTest;
  readonly fixtures: Fixtures;
  readonly contents: Contents;
  /** The configuration's own object where no test says otherwise. */
  readonly settings: JsonObject;
}

export function prepareTest(config: MergedConfig, name: string): PreparedTest {
  const shared = config.validationTests[GLOBAL_TEST];
  const test = config.validationTests[name]!;
  const over = mergeJson(shared?.settings ?? {}, test.settings);
  return {
    name,
    test,
    fixtures: mergeFixtures(shared?.fixtures ?? {}, test.fixtures),
    contents: mergeContents(shared?.httpResources ?? [], test.httpResources),
    settings: Object.keys(over).length === 0 ? config.settings : mergeJson(config.settings, over),
  };
}

/** The tests to run, in order. @throws Refused for a wanted one that there is not. */
export function testNames(config: MergedConfig, only: readonly string[] | undefined): readonly string[] {
  const names = Object.keys(config.validationTests)
    .filter((name) => name !== GLOBAL_TEST)
    .toSorted((a, b) => (a < b ? -1 : 1));
  const unknown = (only ?? []).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    const problems = unknown.map((name) => ({
      where: '',
      message: `no test "${name}"${didYouMean(name, names)}`,
    }));
    throw new Refused(problems);
  }
  return only === undefined ? names : names.filter((name) => only.includes(name));
}
