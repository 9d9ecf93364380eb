import * as fc from 'fast-check';
import type { HeaderOrQuery, Rule } from './case-table.ts';
import type { Request } from './oracle.ts';

const hosts: readonly Pick<Rule, 'host' | 'wildcard'>[] = [
  { host: null },
  { host: 'a.test' },
  { host: 'b.a.test' },
  { host: 'c.b.a.test' },
  { host: '*.a.test', wildcard: 'one-label' },
  { host: '*.a.test', wildcard: 'suffix' },
  { host: '*.b.a.test', wildcard: 'one-label' },
  { host: '*.test', wildcard: 'suffix' },
];
const requestHosts = ['a.test', 'b.a.test', 'c.b.a.test', 'x.a.test', 'x.b.a.test', 'y.x.b.a.test', 'other'];
const plainPaths = [
  '/',
  '/a',
  '/a/',
  '/a/b',
  '/a/b/',
  '/a/b/c',
  '/ab',
  '/b',
  '/%61/b',
  '/a//b',
  '/a%2Fb',
  '/c%20d',
  '/a/./c',
  '/a/x/../b',
  '/x;y',
];
const regexes = ['/a/[a-z]+/c', '/[ab]/b$', '/(a|b)/[^/]+/c', '/a/b/d?', '/.*c$', '/a.b/', '/[0-9]+'];
const headerNames = ['x-one', 'X-Two', 'version'];
const values = ['1', '2', 'two words', 'a,b', 'a&b=c', '50%', 'é'];
const valueRegexes = ['[0-9]', '1|2', '.*o.*', 'a'];
const queryNames = ['q', 'Q', 'r'];

function matcher(names: readonly string[], exactValues: readonly string[]): fc.Arbitrary<HeaderOrQuery> {
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        name: fc.constantFrom(...names),
        match: fc.constant('exact' as const),
        value: fc.constantFrom(...exactValues),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        name: fc.constantFrom(...names),
        match: fc.constant('regex' as const),
        value: fc.constantFrom(...valueRegexes),
      }),
    },
  );
}

// Latin-1 and UTF-8 differ beyond ASCII, and Node sends what HAProxy compares byte by byte.
const headerValues = values.filter((value) => /^[\x20-\x7e]*$/.test(value));

const conditions: fc.Arbitrary<Rule['conditions']> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(undefined) },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        method: fc.constantFrom('GET', 'POST', 'PUT'),
        headers: fc.uniqueArray(matcher(headerNames, headerValues), {
          minLength: 1,
          maxLength: 2,
          selector: ({ name }) => name,
        }),
        query: fc.uniqueArray(matcher(queryNames, values), {
          minLength: 1,
          maxLength: 2,
          selector: ({ name }) => name,
        }),
      },
      { requiredKeys: [] },
    ),
  },
);

const path: fc.Arbitrary<NonNullable<Rule['path']>> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constantFrom('exact', 'prefix', 'prefix'),
      value: fc.constantFrom(...plainPaths),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('regex'), value: fc.constantFrom(...regexes) }) },
);

/** Sixty rules of three namespaces on two ports, each with a backend of its own. */
export const ruleSet: fc.Arbitrary<readonly Rule[]> = fc
  .array(
    fc.record({
      listener: fc.constantFrom('ingress' as const, 'gateway' as const),
      host: fc.constantFrom(...hosts),
      path,
      conditions,
      namespace: fc.constantFrom('red', 'green', 'blue'),
      name: fc.constantFrom('m', 'n'),
      age: fc.integer({ min: 1, max: 3 }),
    }),
    { minLength: 60, maxLength: 60 },
  )
  .map((drafts) =>
    drafts.map(({ host, conditions, ...draft }, order) => ({
      ...draft,
      ...host,
      ...(conditions === undefined ? {} : { conditions }),
      backend: `be${order}`,
      order,
    })),
  );

function mostlyMeant<T>(other: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: other });
}

/** A request that means one of the rules, mostly, with something about it changed. */
export function requestFor(rules: readonly Rule[]): fc.Arbitrary<Request> {
  return fc
    .record({
      rule: fc.constantFrom(...rules),
      host: mostlyMeant(fc.constantFrom(...requestHosts)),
      path: mostlyMeant(fc.constantFrom(...plainPaths, '/a/b/c/d', '/1', '/b/b', '/A')),
      tail: fc.constantFrom('', '', '', '', '/', '/c', '//c', '/%2e', '/x/..', 'z'),
      method: mostlyMeant(fc.constantFrom('GET', 'POST', 'DELETE')),
      extra: fc.oneof(fc.constant([]), fc.array(matcher(headerNames, headerValues), { maxLength: 1 })),
      extraQuery: fc.array(matcher(queryNames, values), { maxLength: 1 }),
      keep: mostlyMeant(fc.constant(false)),
      spelling: fc.constantFrom('plain', 'plain', 'upper', 'port', 'dot'),
    })
    .map(({ rule, host, path, tail, method, extra, extraQuery, keep, spelling }) => {
      const meant = keep === false ? undefined : rule.conditions;
      const parameters = [...(meant?.query ?? []), ...extraQuery].map((parameter) => {
        return `${parameter.name}=${encodeURIComponent(exampleOf(parameter))}`;
      });
      return {
        listener: rule.listener,
        method: method ?? meant?.method ?? 'GET',
        host: spell(host ?? exampleHost(rule), spelling),
        target: `${(path ?? examplePath(rule)).replaceAll(' ', '%20')}${tail}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`,
        headers: [...(meant?.headers ?? []), ...extra].map(
          (header) => [header.name, exampleOf(header)] as const,
        ),
      };
    });
}

function exampleHost({ host }: Rule): string {
  return host === null ? 'nobody.example' : host.replace('*', 'w');
}

function examplePath({ path }: Rule): string {
  if (path === undefined) return '/';
  return path.type === 'regex' ? '/a/b' : path.value;
}

function exampleOf({ match, value }: HeaderOrQuery): string {
  return match === 'exact' ? value : '1';
}

function spell(host: string, spelling: string): string {
  switch (spelling) {
    case 'upper':
      return host.toUpperCase();
    case 'port':
      return `${host}:8080`;
    case 'dot':
      return `${host}.`;
    default:
      return host;
  }
}
