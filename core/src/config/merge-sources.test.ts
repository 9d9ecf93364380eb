import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ConfigSource, MergedConfig } from '../contract/config.ts';
import { Bug, Refused } from '../contract/errors.ts';
import { mergeSources } from './merge-sources.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

const services = { services: { apiVersion: 'v1', resources: 'services' } };
const main = { haproxyConfig: { template: 'global' }, watchedResources: services };

function library(name: string, spec: object): ConfigSource {
  return { kind: 'library', name, spec };
}
function config(spec: object): ConfigSource {
  return { kind: 'config', name: 'main', spec };
}

function merge(...sources: ConfigSource[]): MergedConfig {
  return mergeSources({ sources }, [], hash);
}

function problemsOf(...sources: ConfigSource[]): readonly string[] {
  try {
    merge(...sources);
  } catch (error) {
    if (error instanceof Refused) return error.problems.map(({ where, message }) => `${where} | ${message}`);
    throw error;
  }
  return [];
}

const service = (name: string, rest: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'shop', name },
  ...rest,
});
const test = (rest: object = {}) => ({ assertions: [{ type: 'haproxy_valid' }], ...rest });
const global = (rest: object) => ({ validationTests: { _global: rest } });

describe('named content', () => {
  const kinds = {
    templateSnippets: { template: 'x' },
    maps: { match: 'str' },
    files: { template: 'x' },
    sslCertificates: { template: 'x' },
    k8sResources: { template: 'x' },
    annotations: { type: 'bool', appliesTo: ['ingress'], doc: 'd' },
  } as const;

  it.each(Object.entries(kinds))(
    '%s: the same name in two libraries is an error that names both',
    (kind, content) => {
      const sources = [
        library('a', { ...main, [kind]: { x: content } }),
        library('b', { [kind]: { x: content } }),
      ];
      const problem = `library b | ${kind}.x: defined by both library a and library b; only the config may override`;
      expect(problemsOf(...sources, config({}))).toEqual([problem]);
      expect(problemsOf(...sources, config({ [kind]: { x: content } }))).toEqual([problem]);
    },
  );

  it.each(Object.entries(kinds))('%s: the config overrides, and that is reported', (kind, content) => {
    const merged = merge(
      library('a', { ...main, [kind]: { x: content } }),
      config({ [kind]: { x: content } }),
    );
    expect(merged.overrides).toEqual([{ kind, name: 'x', of: 'a', by: 'main' }]);
    expect(merged[kind as keyof typeof kinds]['x']!.origin).toEqual({ kind: 'config', source: 'main' });
  });

  it('replaces as a whole what it overrides', () => {
    const merged = merge(
      library('a', {
        ...main,
        files: { x: { template: 'a', reloadOnChange: false, requires: ['services'] } },
      }),
      config({ files: { x: { template: 'b' } } }),
    );
    expect(merged.files['x']).toMatchObject({ template: 'b', reloadOnChange: true, requires: [] });
  });

  it('does not find names that nobody gave', () => {
    const merged = merge(library('a', main), config({ maps: { constructor: { match: 'str' } } }));
    expect(merged.maps['toString']).toBeUndefined();
    expect(merged.maps['constructor']).toMatchObject({ match: 'str' });
  });

  it('remembers where a text begins', () => {
    const located: ConfigSource = {
      ...library('a', { ...main, templateSnippets: { s: { template: 'x' } }, maps: { m: { match: 'str' } } }),
      locate: (path) => ({ file: 'a.yaml', line: path.length, column: 1 }),
    };
    const merged = merge(located, config({}));
    expect(merged.templateSnippets['s']!.origin.position).toEqual({ file: 'a.yaml', line: 3, column: 1 });
    expect(merged.maps['m']!.origin.position).toEqual({ file: 'a.yaml', line: 2, column: 1 });
    expect(merged.haproxyConfig.origin.position).toEqual({ file: 'a.yaml', line: 2, column: 1 });
  });

  it('says where both of a name stand', () => {
    const at = (name: string, line: number): ConfigSource => ({
      ...library(name, { maps: { x: { match: 'str' } } }),
      locate: () => ({ file: `${name}.yaml`, line, column: 3 }),
    });
    expect(problemsOf(at('a', 7), at('b', 9), config(main))).toEqual([
      'b.yaml:9:3 | maps.x: defined by both library a (a.yaml:7:3) and library b; only the config may override',
    ]);
  });
});

describe('the main template', () => {
  it('comes from one library', () => {
    expect(
      problemsOf(library('a', main), library('b', { haproxyConfig: { template: 'x' } }), config({})),
    ).toEqual([
      'library b | haproxyConfig: defined by both library a and library b; exactly one library may supply it',
    ]);
  });

  it('is overridden by the config', () => {
    const merged = merge(library('a', main), config({ haproxyConfig: { template: 'x' } }));
    expect(merged.haproxyConfig).toEqual({
      template: 'x',
      requires: [],
      origin: { kind: 'config', source: 'main' },
    });
    expect(merged.overrides).toEqual([{ kind: 'haproxyConfig', name: 'haproxyConfig', of: 'a', by: 'main' }]);
  });

  it('has to be there, and something to watch as well', () => {
    expect(problemsOf(config({}))).toEqual([
      'config main | no source supplies haproxyConfig, the main template',
      'config main | no source declares watchedResources: there is nothing to route',
    ]);
  });
});

describe('validation tests', () => {
  it.each([
    [
      'two libraries',
      [
        library('a', { validationTests: { t: test() } }),
        library('b', { validationTests: { t: test() } }),
        config(main),
      ],
      'library b',
      'library a and library b',
    ],
    [
      'a library and the config',
      [library('a', { validationTests: { t: test() } }), config({ ...main, validationTests: { t: test() } })],
      'config main',
      'library a and config main',
    ],
  ] as const)('a name of %s is an error', (_, sources, where, both) => {
    expect(problemsOf(...sources)).toEqual([
      `${where} | validationTests.t: defined by both ${both}; tests are never merged nor overridden`,
    ]);
  });

  it('accumulates what all tests share', () => {
    const merged = merge(
      library('a', {
        ...main,
        ...global({
          fixtures: { services: [service('a')] },
          settings: { x: { a: 1 } },
          requires: ['services'],
        }),
      }),
      library('b', global({ fixtures: { services: [service('b')] }, settings: { x: { b: 2 } } })),
      config(global({ settings: { x: { a: 1 } }, requires: ['services'] })),
    );
    expect(merged.validationTests['_global']).toEqual({
      fixtures: { services: [service('a'), service('b')] },
      httpResources: [],
      settings: { x: { a: 1, b: 2 } },
      requires: ['services'],
      assertions: [],
      origin: { kind: 'library', source: 'a' },
    });
  });

  it('keeps all of a fixture', () => {
    const odd = service('a', { spec: { ports: [{ port: 80 }] }, data: null });
    const merged = merge(
      config({ ...main, validationTests: { t: test({ fixtures: { services: [odd] } }) } }),
    );
    expect(merged.validationTests['t']!.fixtures['services']).toEqual([odd]);
  });

  it('refuses one object in two shared tests, and one setting with two values', () => {
    expect(
      problemsOf(
        library('a', {
          ...main,
          ...global({ fixtures: { services: [service('x')] }, settings: { x: { y: 1, z: 1 } } }),
        }),
        library(
          'b',
          global({ fixtures: { services: [service('y'), service('x')] }, settings: { x: { y: 2 } } }),
        ),
        config(global({ settings: { x: 'text' } })),
      ),
    ).toEqual([
      'library b | validationTests._global.fixtures.services.1: Service shop/x is also a shared fixture of library a',
      'library b | validationTests._global.settings.x.y: library a gives it another value for all tests',
      'config main | validationTests._global.settings.x: library a gives it another value for all tests',
      'config main | validationTests._global.settings.x: library b gives it another value for all tests',
    ]);
  });

  it('gives one URL one content', () => {
    const at = (url: string) => ({ httpResources: [{ url, content: url }] });
    const merged = merge(
      library('a', { ...main, ...global(at('http://a.test')) }),
      config({ validationTests: { t: test(at('http://a.test/')), _global: at('http://b.test/x') } }),
    );
    expect(merged.validationTests['_global']!.httpResources.map(({ url }) => url)).toEqual([
      'http://a.test',
      'http://b.test/x',
    ]);
    expect(merged.validationTests['t']!.httpResources).toEqual(at('http://a.test/').httpResources);
    const twice = {
      httpResources: [...at('http://a.test').httpResources, ...at('http://A.test/').httpResources],
    };
    expect(
      problemsOf(
        library('a', { ...main, ...global(at('http://a.test')) }),
        config({ validationTests: { t: test(twice), _global: at('http://a.test:80/') } }),
      ),
    ).toEqual([
      'config main | validationTests._global.httpResources.0: http://a.test:80/ has a shared content already',
      'config main | validationTests.t.httpResources.1.url: http://A.test/ stands twice in this list',
    ]);
  });

  it('refuses one object twice in a list', () => {
    const fixtures = { services: [service('x'), service('x', { spec: {} })] };
    expect(
      problemsOf(config({ ...main, validationTests: { t: test({ fixtures }), _global: { fixtures } } })),
    ).toEqual([
      'config main | validationTests._global.fixtures.services.1: Service shop/x stands twice in this list',
      'config main | validationTests.t.fixtures.services.1: Service shop/x stands twice in this list',
    ]);
  });

  it('refuses fixtures of unknown watches and other versions', () => {
    const fixtures = { servics: [], services: [service('x', { apiVersion: 'v2' })] };
    expect(problemsOf(config({ ...main, validationTests: { t: test({ fixtures }) } }))).toEqual([
      'config main | validationTests.t.fixtures.servics: no watch "servics" in watchedResources, did you mean "services"?',
      'config main | validationTests.t.fixtures.services.0.apiVersion: watch "services" holds objects of v1, not of v2',
    ]);
  });
});

describe('tests that the config leaves out', () => {
  const skipping = (...skipTests: string[]) => config({ ...main, controller: { skipTests } });
  const base = library('base', { validationTests: { routes: test(), _global: {} } });

  it('are those of libraries', () => {
    const merged = merge(base, skipping('routes'));
    expect(merged.controller.skipTests).toEqual(['routes']);
    expect(Object.keys(merged.validationTests)).toContain('routes');
  });

  it('must be there, and are neither the shared one nor its own', () => {
    const own = config({
      ...main,
      controller: { skipTests: ['route', '_global', 'mine'] },
      validationTests: { mine: test() },
    });
    expect(problemsOf(base, own)).toEqual([
      'config main | controller.skipTests.0: no library has a test "route", did you mean "routes"?',
      'config main | controller.skipTests.1: no library has a test "_global"',
      'config main | controller.skipTests.2: "mine" is a test of this configuration: remove it instead',
    ]);
  });
});

describe('watches', () => {
  const watch = (rest: object) => ({
    watchedResources: { services: { apiVersion: 'v1', resources: 'services', ...rest } },
  });

  it('unite when they are equal', () => {
    const merged = merge(
      library('a', { ...main, ...watch({ indexBy: ['metadata.name', 'spec.type'] }) }),
      library('b', {
        watchedResources: {
          services: {
            resources: 'services',
            apiVersions: ['v1'],
            indexBy: ['spec.type', 'metadata.name'],
            optional: false,
          },
        },
      }),
      config({}),
    );
    expect(merged.watchedResources['services']!.indexBy).toEqual(['metadata.name', 'spec.type']);
    expect(merged.overrides).toEqual([]);
  });

  it('refuse to be different in two libraries', () => {
    expect(problemsOf(library('a', main), library('b', watch({ optional: true })), config({}))).toEqual([
      'library b | watchedResources.services: defined by both library a and library b; different definitions of one watch do not unite',
    ]);
  });

  it('may be different in the config', () => {
    const merged = merge(library('a', main), config(watch({ namespaces: ['shop'] })));
    expect(merged.watchedResources['services']!.namespaces).toEqual(['shop']);
    expect(merged.overrides).toEqual([{ kind: 'watchedResources', name: 'services', of: 'a', by: 'main' }]);
  });

  it('have the debounce of the controller, endpoints have none', () => {
    const merged = merge(
      library('a', {
        ...main,
        watchedResources: {
          ...services,
          own: { apiVersion: 'v1', resources: 'pods', debounce: '1s' },
          endpoints: { apiVersion: 'discovery.k8s.io/v1', resources: 'endpointslices' },
        },
      }),
      config({ controller: { debounce: '200ms' } }),
    );
    expect(merged.watchedResources).toMatchObject({
      services: { debounce: 200 },
      own: { debounce: 1000 },
      endpoints: { debounce: 0 },
    });
  });

  it('are what requirements name', () => {
    const snippet = (requires: string[]) => ({ templateSnippets: { s: { template: '', requires } } });
    expect(problemsOf(config({ ...main, ...snippet(['service', 'services.spec.type', 'a..b']) }))).toEqual([
      'config main | templateSnippets.s.requires.0: no watch "service" in watchedResources, did you mean "services"?',
      expect.stringContaining(
        'config main | templateSnippets.s.requires.2: path "a..b", character 3: a name is empty',
      ),
    ]);
  });
});

describe('the set', () => {
  it('merges settings, later over earlier', () => {
    const merged = merge(
      library('a', { ...main, settings: { x: { a: 1, list: [1, 2] }, y: 1 } }),
      library('b', { settings: { x: { b: 2 }, y: { z: 1 } } }),
      config({ settings: { x: { a: 3, list: [] } } }),
    );
    expect(merged.settings).toEqual({ x: { a: 3, b: 2, list: [] }, y: { z: 1 } });
  });

  it('reports the problems of all sources at once', () => {
    expect(
      problemsOf(library('a', { mpas: {} }), library('a', { maps: 1 }), config({ setings: {} })),
    ).toEqual([
      'library a | mpas: unknown key "mpas", did you mean "maps"?',
      'library a | library "a" stands twice in the set',
      'library a | maps: expected an object, got 1',
      'config main | setings: unknown key "setings", did you mean "settings"?',
    ]);
  });

  it.each([
    ['is empty', []],
    ['has no config', [library('a', main)]],
    ['has two configs', [config(main), config(main)]],
    ['ends with a library', [config(main), library('a', {})]],
  ])('is a mistake of ours when it %s', (_, sources) => {
    expect(() => merge(...sources)).toThrow(Bug);
  });

  it('is frozen, what it was made of is not', () => {
    const spec = { ...main, settings: { a: { b: [1] } } };
    const merged = merge(config(spec));
    const settings = merged.settings as { a: { b: number[] } };
    expect(() => settings.a.b.push(2)).toThrow(TypeError);
    expect(Object.isFrozen(merged.watchedResources['services'])).toBe(true);
    expect(Object.isFrozen(merged.overrides)).toBe(true);
    spec.settings.a.b.push(2);
  });

  it('has a digest of what it says', () => {
    const snippet = (template: string) => ({ templateSnippets: { s: { template } } });
    const at = (source: ConfigSource, line: number): ConfigSource => ({
      ...source,
      locate: () => ({ file: 'f', line, column: 1 }),
    });
    const digest = merge(library('a', snippet('x')), config(main)).digest;
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(merge(at(library('a', snippet('x')), 3), at(config(main), 4)).digest).toBe(digest);
    expect(merge(library('b', snippet('x')), config(main)).digest).not.toBe(digest);
    expect(merge(library('a', snippet('y')), config(main)).digest).not.toBe(digest);
    expect(
      merge(library('a', snippet('x')), config({ ...main, settings: { origin: { position: 1 } } })).digest,
    ).not.toBe(
      merge(library('a', snippet('x')), config({ ...main, settings: { origin: { position: 2 } } })).digest,
    );
  });
});
