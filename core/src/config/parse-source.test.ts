import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ConfigSource } from '../contract/config.ts';
import { Refused } from '../contract/errors.ts';
import { parseSource } from './parse-source.ts';
import type { OwnedKey } from './source-schema.ts';

const owned: readonly OwnedKey[] = [
  {
    plugin: 'transport',
    key: 'agent',
    schema: z.strictObject({ port: z.int().min(1).max(65_535).default(5555) }).prefault({}),
  },
];

function source(kind: ConfigSource['kind'], spec: unknown): ConfigSource {
  return { kind, name: 'base', spec };
}

function problemsOf(candidate: ConfigSource): readonly string[] {
  try {
    parseSource(candidate, owned);
  } catch (error) {
    if (error instanceof Refused) return error.problems.map(({ where, message }) => `${where} | ${message}`);
    throw error;
  }
  return [];
}

const test = (assertion: object, rest: object = {}) => ({
  validationTests: { t: { assertions: [assertion], ...rest } },
});
const watch = (rest: object) => ({
  watchedResources: { w: { apiVersion: 'v1', resources: 'services', ...rest } },
});

describe('parseSource', () => {
  it('fills in defaults', () => {
    const parsed = parseSource(
      source('config', {
        templateSnippets: { s: { template: 'x' } },
        maps: { host: { match: 'str' } },
        files: { f: { template: 'x' } },
        watchedResources: { services: { apiVersion: 'v1', resources: 'services', debounce: '2m' } },
      }),
      owned,
    );
    expect(parsed.content.templateSnippets['s']).toEqual({ template: 'x', requires: [] });
    expect(parsed.content.maps['host']).toEqual({
      match: 'str',
      value: 'str',
      layer: 'leaf',
      secret: false,
      requires: [],
    });
    expect(parsed.content.files['f']).toEqual({ template: 'x', requires: [], reloadOnChange: true });
    expect(parsed.content.watchedResources['services']).toEqual({
      apiVersions: ['v1'],
      resources: 'services',
      optional: false,
      indexBy: [],
      namespaces: [],
      ignoreFields: [],
      admission: false,
      debounce: 120_000,
    });
    expect(parsed.controller).toEqual({
      logging: { level: 'info' },
      debounce: 50,
      renderTimeout: 30_000,
      skipTests: [],
      budgets: {},
    });
    expect(parsed.owned).toEqual({ agent: { port: 5555 } });
  });

  it.each(['500ms', '0s', '30s', '2m', '1h', '595h'])('reads the duration %s', (debounce) => {
    expect(problemsOf(source('library', watch({ debounce })))).toEqual([]);
  });

  it.each([
    ['a spec that is no object', 'library', 'x', ['library base | expected an object, got "x"']],
    [
      'an empty spec',
      'library',
      undefined,
      ['library base | expected plain data', 'library base | missing, expected an object'],
    ],
    [
      'a misspelt key',
      'library',
      { templateSnippet: {} },
      ['library base | templateSnippet: unknown key "templateSnippet", did you mean "templateSnippets"?'],
    ],
    [
      'a key that resembles none',
      'library',
      { maps: { host: { match: 'str', frobnicate: 1 } } },
      [
        'library base | maps.host.frobnicate: unknown key "frobnicate", known keys are match, value, layer, secret, requires',
      ],
    ],
    [
      'a key of the config in a library',
      'library',
      { controller: {}, agent: {} },
      [
        'library base | controller: "controller" belongs in the config: a library holds content only',
        'library base | agent: "agent" belongs in the config: a library holds content only',
      ],
    ],
    ['a key of a plugin', 'config', { agent: { port: 0 } }, ['config base | agent.port: must be at least 1']],
    [
      'a misspelt key of a plugin',
      'config',
      { agent: { prot: 1 }, agnet: {} },
      [
        'config base | agent.prot: unknown key "prot", did you mean "port"?',
        'config base | agnet: unknown key "agnet", did you mean "agent"?',
      ],
    ],
    [
      'a misspelt value',
      'library',
      { maps: { host: { match: 'strr' } } },
      [
        'library base | maps.host.match: expected one of "str", "beg", "end", "sub", "dom", "dir", "reg", "ip", got "strr", did you mean "str"?',
      ],
    ],
    [
      'wrong types',
      'library',
      { maps: null, files: [], settings: 'x', templateSnippets: { a: 'text', b: { template: 5 }, c: {} } },
      [
        'library base | templateSnippets.a: expected an object, got "text"',
        'library base | templateSnippets.b.template: expected text, got 5',
        'library base | templateSnippets.c.template: missing, expected text',
        'library base | maps: expected an object, got nothing (null)',
        'library base | files: expected an object, got a list',
        'library base | settings: expected an object',
      ],
    ],
    [
      'names that would leave their folder',
      'library',
      { maps: { '../x': { match: 'str' } }, files: { '.hidden': { template: '' } } },
      [
        'library base | maps.../x: expected a name of letters, digits, "_", "-" and "." that begins with a letter, a digit or "_"',
        'library base | files..hidden: expected a name of letters, digits, "_", "-" and "." that begins with a letter, a digit or "_"',
      ],
    ],
    [
      'names that no template could name',
      'library',
      {
        watchedResources: {
          constructor: { apiVersion: 'v1', resources: 'a' },
          'a-b': { apiVersion: 'v1', resources: 'a' },
        },
        templateSnippets: { 'a:b': { template: '' } },
        validationTests: { 'a\nb': { assertions: [{ type: 'haproxy_valid' }] } },
      },
      [
        'library base | templateSnippets.a:b: expected a name of letters, digits, "_", "-", "." and "/" that begins with a letter, a digit or "_"',
        'library base | validationTests.a\nb: expected a name without control characters',
        'library base | watchedResources.constructor: expected a name of letters, digits and "_" that begins with a letter, and not one that JavaScript reserves',
        'library base | watchedResources.a-b: expected a name of letters, digits and "_" that begins with a letter, and not one that JavaScript reserves',
      ],
    ],
    [
      'no API version',
      'library',
      { watchedResources: { w: { resources: 'a' } } },
      ['library base | watchedResources.w: missing apiVersion or apiVersions'],
    ],
    [
      'two kinds of API versions',
      'library',
      watch({ apiVersions: ['v1'] }),
      ['library base | watchedResources.w: apiVersion and apiVersions exclude each other'],
    ],
    [
      'no such API version',
      'library',
      watch({ apiVersion: 'networking' }),
      [
        'library base | watchedResources.w.apiVersion: expected an API version such as "v1" or "networking.k8s.io/v1"',
      ],
    ],
    [
      'a broken path',
      'library',
      watch({ indexBy: ['a..b'] }),
      [
        'library base | watchedResources.w.indexBy.0: path "a..b", character 3: a name is empty (a path is names joined by dots, e.g. metadata.labels.app, with "\\." for a dot inside a name, or the name in quotes)',
      ],
    ],
    [
      'a broken selector',
      'library',
      watch({ labelSelector: 'a in b' }),
      [
        'library base | watchedResources.w.labelSelector: label selector "a in b": "a in b" is no requirement such as key=value, key!=value, key in (a, b), key notin (a, b), key or !key',
      ],
    ],
    [
      'a duration without a unit',
      'library',
      watch({ debounce: 0 }),
      [
        'library base | watchedResources.w.debounce: expected a duration such as "500ms", "30s", "2m" or "1h"',
      ],
    ],
    [
      'a duration of a strange unit',
      'library',
      watch({ debounce: '3d' }),
      [
        'library base | watchedResources.w.debounce: expected a duration such as "500ms", "30s", "2m" or "1h"',
      ],
    ],
    [
      'a duration that no timer can count',
      'library',
      watch({ debounce: '600h' }),
      ['library base | watchedResources.w.debounce: longer than the longest possible duration, 24 days'],
    ],
    [
      'a time-out of nothing',
      'config',
      { controller: { renderTimeout: '0s' } },
      ['config base | controller.renderTimeout: must be longer than nothing'],
    ],
    [
      'an enum without values',
      'library',
      { annotations: { 'a/b': { type: 'enum', appliesTo: ['ingress'], doc: 'd' } } },
      ['library base | annotations.a/b.enum: missing: type "enum" lists its values here'],
    ],
    [
      'an unknown assertion',
      'library',
      test({ type: 'contain' }),
      [
        'library base | validationTests.t.assertions.0.type: expected one of "contains", "not_contains", "equals", "match_count", "match_order", "jsonpath", "haproxy_valid", "deterministic", "routes", "rendering_error", got "contain", did you mean "contains"?',
      ],
    ],
    [
      'an assertion without type',
      'library',
      test({ target: 'plan' }),
      [
        'library base | validationTests.t.assertions.0.type: missing, expected one of "contains", "not_contains", "equals", "match_count", "match_order", "jsonpath", "haproxy_valid", "deterministic", "routes", "rendering_error"',
      ],
    ],
    [
      'a request to nowhere that expects nothing',
      'library',
      test({ type: 'routes', request: { path: 'x', hots: 'y' }, expect: {} }),
      [
        'library base | validationTests.t.assertions.0.request.path: expected a path that begins with "/", as it is sent',
        'library base | validationTests.t.assertions.0.request.hots: unknown key "hots", did you mean "host"?',
        'library base | validationTests.t.assertions.0.expect: expected a backend, a redirect or a status',
      ],
    ],
    [
      'a misspelt key of an assertion',
      'library',
      test({ type: 'contains', target: 'plan', pattern: 'x', patern: 'x' }),
      ['library base | validationTests.t.assertions.0.patern: unknown key "patern", did you mean "pattern"?'],
    ],
    [
      'a key of another assertion',
      'library',
      test({ type: 'haproxy_valid', pattern: 'x' }),
      [
        'library base | validationTests.t.assertions.0.pattern: unknown key "pattern", known keys are type, description',
      ],
    ],
    [
      'an unknown target',
      'library',
      test({ type: 'equals', target: 'haproxy.cgf', expected: '' }),
      [
        'library base | validationTests.t.assertions.0.target: unknown target "haproxy.cgf", expected one of haproxy.cfg, events, plan, rendering_error, map:<name>, file:<name>, cert:<name>, crt-list:<name>, k8s:<name>, status:<namespace>/<name>, did you mean "haproxy.cfg"?',
      ],
    ],
    [
      'an unknown kind of target',
      'library',
      test({ type: 'equals', target: 'mpa:host', expected: '' }),
      [
        'library base | validationTests.t.assertions.0.target: unknown target "mpa:host", expected one of haproxy.cfg, events, plan, rendering_error, map:<name>, file:<name>, cert:<name>, crt-list:<name>, k8s:<name>, status:<namespace>/<name>, did you mean "map"?',
      ],
    ],
    [
      'a target without namespace',
      'library',
      test({ type: 'equals', target: 'status:b', expected: '' }),
      [
        'library base | validationTests.t.assertions.0.target: target "status:b": expected status:<namespace>/<name>, without a namespace status:/<name>',
      ],
    ],
    [
      'a path into a text, and one that is none',
      'library',
      test({ type: 'jsonpath', target: 'map:hosts', path: '$..x' }),
      [
        'library base | validationTests.t.assertions.0.target: target "map:hosts" is a text, and a path needs data: k8s:<name>, status:<namespace>/<name>, events or plan',
        'library base | validationTests.t.assertions.0.path: path "$..x" is not understood at character 2: a path is like $.spec.ports[0].name, $.items[*], $["a.b"] or $.conditions[?@.type == "Ready"].status',
      ],
    ],
    [
      'a target without name',
      'library',
      test({ type: 'equals', target: 'map:', expected: '' }),
      [
        'library base | validationTests.t.assertions.0.target: target "map:" lacks a name: expected map:<name>',
      ],
    ],
    [
      'a broken pattern',
      'library',
      test({ type: 'contains', target: 'plan', pattern: 'a(' }),
      ['library base | validationTests.t.assertions.0.pattern: pattern "a(" is not valid: missing closing )'],
    ],
    [
      'a count that is text',
      'library',
      test({ type: 'match_count', target: 'plan', pattern: 'a', expected: '2' }),
      ['library base | validationTests.t.assertions.0.expected: expected a number, got "2"'],
    ],
    [
      'a test that claims nothing',
      'library',
      { validationTests: { t: { assertions: [] } } },
      ['library base | validationTests.t.assertions: must not be empty'],
    ],
    [
      'a test of HTTP content',
      'library',
      test({ type: 'haproxy_valid' }, { httpResources: [{ url: 'ftp://x/y', content: '' }] }),
      ['library base | validationTests.t.httpResources.0.url: expected a URL of http or https'],
    ],
    [
      'a misspelt key of a test',
      'library',
      test({ type: 'haproxy_valid' }, { fixture: {} }),
      ['library base | validationTests.t.fixture: unknown key "fixture", did you mean "fixtures"?'],
    ],
    [
      'claims of the shared test',
      'library',
      { validationTests: { _global: { assertions: [] } } },
      [
        'library base | validationTests._global.assertions: unknown key "assertions", known keys are description, fixtures, settings, requires, httpResources',
      ],
    ],
    [
      'a fixture that is no object',
      'library',
      test({ type: 'haproxy_valid' }, { fixtures: { w: [{ kind: 'Service', metadata: {} }] } }),
      [
        'library base | validationTests.t.fixtures.w.0.apiVersion: missing, expected text',
        'library base | validationTests.t.fixtures.w.0.metadata.name: missing, expected text',
      ],
    ],
    [
      'a number that JSON does not know',
      'library',
      { settings: { a: { b: [Number.NaN] } } },
      ['library base | settings.a.b.0: NaN is not a number that JSON knows'],
    ],
    [
      'data that is not plain',
      'library',
      { settings: { a: new Date(0), b: () => 1 } },
      ['library base | settings.a: expected plain data', 'library base | settings.b: expected plain data'],
    ],
    [
      'a key that changes prototypes',
      'library',
      JSON.parse('{"settings":{"__proto__":{"a":1}}}'),
      ['library base | settings.__proto__: no key may be called "__proto__"'],
    ],
  ] as const)('refuses %s', (_, kind, spec, expected) => {
    expect(problemsOf(source(kind, spec))).toEqual(expected);
  });

  it('refuses a circle', () => {
    const settings: Record<string, unknown> = {};
    settings['again'] = settings;
    expect(problemsOf(source('library', { settings }))[0]).toMatch(/nested more than 64 levels deep$/);
  });

  it('says where in its file a problem stands', () => {
    const located: ConfigSource = {
      ...source('library', { templateSnippet: {}, maps: { host: { match: 'strr' } } }),
      locate: (path, of) => ({ file: 'base.yaml', line: path.length, column: of === 'key' ? 1 : 9 }),
      excerpt: ({ line }) => `  line ${line}\n  ^`,
    };
    expect(() => parseSource(located, [])).toThrow(
      expect.objectContaining({
        problems: [
          expect.objectContaining({ where: 'base.yaml:3:9', excerpt: '  line 3\n  ^' }),
          {
            where: 'base.yaml:1:1',
            message: 'templateSnippet: unknown key "templateSnippet", did you mean "templateSnippets"?',
            excerpt: '  line 1\n  ^',
          },
        ],
      }),
    );
  });

  it('leaves what it read as it was', () => {
    const spec = { settings: { a: { b: 1 } } };
    const parsed = parseSource(source('library', spec), []);
    expect(parsed.content.settings).toEqual(spec.settings);
    expect(parsed.content.settings).not.toBe(spec.settings);
  });

  it.each([
    [
      [{ plugin: 'p', key: 'maps', schema: z.unknown() }],
      'p: the key "maps" of the config belongs to the core',
    ],
    [
      [
        { plugin: 'p', key: 'x', schema: z.unknown() },
        { plugin: 'q', key: 'x', schema: z.unknown() },
      ],
      'q: the key "x" of the config belongs to plugin p',
    ],
  ])('refuses a plugin whose key is taken', (keys, message) => {
    expect(() => parseSource(source('config', {}), keys)).toThrow(message);
  });

  it('misses a key that a plugin cannot do without', () => {
    const keys = [{ plugin: 'p', key: 'need', schema: z.strictObject({ a: z.string() }) }];
    expect(() => parseSource(source('config', {}), keys)).toThrow(
      'config base: need: missing, expected an object',
    );
  });
});
