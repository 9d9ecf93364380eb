import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GLOBAL_TEST, type ConfigSource, type MergedConfig } from '../contract/config.ts';
import { Refused } from '../contract/errors.ts';
import { mergeSources } from './merge-sources.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

type Spec = Readonly<Record<string, unknown>>;

/** Few names, so that sources meet; every text bears its author's mark, so that a blend of two would show. */
const name = fc.constantFrom('a', 'b', 'c', 'toString', 'constructor', 'f', 'g');
const leaf = fc.oneof(fc.integer({ min: 0, max: 2 }), fc.constantFrom('x', 'y'), fc.constant(null));
const settings = fc.dictionary(name, fc.oneof(leaf, fc.dictionary(name, leaf, { maxKeys: 2 })), {
  maxKeys: 3,
});

function specOf(author: string): fc.Arbitrary<Spec> {
  const snippet = fc.record({ template: fc.nat(3).map((n) => `${author}-${n}`) });
  const objects = fc
    .uniqueArray(name, { maxLength: 2 })
    .map((names) =>
      names.map((of) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: of }, spec: { author } })),
    );
  const test = fc.record({
    description: fc.constant(author),
    fixtures: fc.record({ services: objects }),
    assertions: fc.constant([{ type: 'contains', target: 'haproxy.cfg', pattern: author }]),
    settings,
  });
  const shared = fc.record({ fixtures: fc.record({ services: objects }), settings }, { requiredKeys: [] });
  const named = <T>(content: fc.Arbitrary<T>) => fc.dictionary(name, content, { maxKeys: 2 });
  return fc.record(
    {
      templateSnippets: named(snippet),
      files: named(snippet),
      maps: named(fc.record({ match: fc.constantFrom('str', 'beg') })),
      settings,
      watchedResources: fc.constantFrom<Spec>(
        {},
        { services: { apiVersion: 'v1', resources: 'services' } },
        { services: { resources: 'services', apiVersions: ['v1'], optional: false } },
      ),
      validationTests: fc
        .tuple(named(test), fc.option(shared, { nil: undefined }))
        .map(([tests, global]) => (global === undefined ? tests : { ...tests, [GLOBAL_TEST]: global })),
    },
    { requiredKeys: [] },
  );
}

const base = {
  haproxyConfig: { template: 'main' },
  watchedResources: { services: { apiVersion: 'v1', resources: 'services' } },
};

const sources: fc.Arbitrary<ConfigSource[]> = fc
  .tuple(specOf('one'), specOf('two'), specOf('main'))
  .map(([one, two, config]) => [
    { kind: 'library', name: 'base', spec: base },
    { kind: 'library', name: 'one', spec: one },
    { kind: 'library', name: 'two', spec: two },
    { kind: 'config', name: 'main', spec: config },
  ]);

type Outcome = { readonly merged: MergedConfig } | { readonly problems: readonly string[] };

function outcome(list: readonly ConfigSource[]): Outcome {
  try {
    return { merged: mergeSources({ sources: list }, [], hash) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { problems: error.problems.map(({ where, message }) => `${where} ${message}`).toSorted() };
  }
}

/** The same data with the members of every object in another order. */
function permuted(value: unknown, seed: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => permuted(item, seed));
  const order = ([key]: [string, unknown]) => hash(`${seed} ${key}`);
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, member]): [string, unknown] => [key, permuted(member, seed)])
      .toSorted((a, b) => (order(a) < order(b) ? -1 : 1)),
  );
}

const KINDS = ['templateSnippets', 'files', 'maps', 'validationTests'] as const;

function without(
  record: Readonly<Record<string, { readonly origin: { readonly source: string } }>>,
  source: string,
): object {
  return Object.fromEntries(
    Object.entries(record).filter(([key, { origin }]) => key !== GLOBAL_TEST && origin.source !== source),
  );
}

describe('merging', () => {
  it('gives the same answer whatever the order of keys', () => {
    fc.assert(
      fc.property(sources, fc.integer(), (list, seed) => {
        const again = list.map((source) => ({ ...source, spec: permuted(source.spec, seed) }));
        const [first, second] = [outcome(list), outcome(again)];
        expect(second).toEqual(first);
        if ('merged' in first && 'merged' in second) {
          expect(second.merged.digest).toBe(first.merged.digest);
          for (const kind of KINDS)
            expect(Object.keys(second.merged[kind])).toEqual(Object.keys(first.merged[kind]));
        }
      }),
    );
  });

  it('leaves every content and every test whole, one author’s alone', () => {
    fc.assert(
      fc.property(sources, (list) => {
        const result = outcome(list);
        if (!('merged' in result)) return;
        for (const kind of KINDS) {
          for (const [key, { origin, ...content }] of Object.entries(result.merged[kind])) {
            if (key === GLOBAL_TEST) continue;
            const author = list.find((source) => source.name === origin.source)!.spec as Record<string, Spec>;
            expect(content).toMatchObject(author[kind]![key] as Spec);
          }
        }
      }),
    );
  });

  it('loses nothing: what a source declares is there, or overridden by the config and reported', () => {
    fc.assert(
      fc.property(sources, (list) => {
        const result = outcome(list);
        if (!('merged' in result)) return;
        for (const { name: author, spec } of list) {
          for (const kind of KINDS) {
            for (const key of Object.keys((spec as Record<string, Spec>)[kind] ?? {})) {
              const origin = result.merged[kind][key]!.origin.source;
              const reported = result.merged.overrides.some(
                (o) => o.kind === kind && o.name === key && o.of === author,
              );
              expect(key === GLOBAL_TEST || origin === author || reported).toBe(true);
            }
          }
        }
      }),
    );
  });

  it('without a library that nothing overrides lacks exactly its content', () => {
    fc.assert(
      fc.property(sources, (list) => {
        const result = outcome(list);
        if (!('merged' in result) || result.merged.overrides.some(({ of }) => of === 'two')) return;
        const rest = outcome(list.filter(({ name: author }) => author !== 'two'));
        if (!('merged' in rest))
          throw new Error(`removing a library made it wrong: ${rest.problems.join('; ')}`);
        for (const kind of KINDS) {
          expect(without(rest.merged[kind], 'two')).toEqual(without(result.merged[kind], 'two'));
          expect(Object.values(rest.merged[kind]).every(({ origin }) => origin.source !== 'two')).toBe(true);
        }
        expect(rest.merged.watchedResources).toEqual(result.merged.watchedResources);
      }),
    );
  });

  it('meets both outcomes often enough to mean something', () => {
    const samples = fc.sample(sources, { numRuns: 300, seed: 1 }).map(outcome);
    const merged = samples.filter((sample) => 'merged' in sample).length;
    expect(merged).toBeGreaterThan(30);
    expect(samples.length - merged).toBeGreaterThan(30);
  });
});
