import { readdirSync, readFileSync } from 'node:fs';
import { getObject, type Resource } from '@haptic/kube';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { forEachCluster } from '../cluster/index.ts';
import { configs, libraries, sharedDefinitions } from './definitions.ts';

const watchedResources = { ingresses: { apiVersion: 'networking.k8s.io/v1', resources: 'ingresses' } };
const complete = { haproxyConfig: { template: 'global' }, watchedResources };
const assertion = { type: 'contains', target: 'haproxy.cfg', pattern: 'x' };

function tested(test: object): object {
  return { ...complete, validationTests: { t: test } };
}

/** What is wrong, the spec, and what the refusal must say. */
const INVALID: readonly (readonly [string, object, RegExp])[] = [
  ['nothing at all', {}, /haproxyConfig is required where libraryRefs names no library/],
  ['no watches', { haproxyConfig: { template: '' } }, /watchedResources is required where libraryRefs/],
  ['an empty list of libraries', { libraryRefs: [] }, /haproxyConfig is required/],
  [
    'a library without a revision',
    { libraryRefs: [{ name: 'base' }] },
    /libraryRefs\[0\]\.revision: Required/,
  ],
  [
    'a library twice',
    {
      libraryRefs: [
        { name: 'base', revision: '1' },
        { name: 'base', revision: '2' },
      ],
    },
    /libraryRefs\[1\].*Duplicate value/,
  ],
  [
    'a watch without a version',
    { ...complete, watchedResources: { x: { resources: 'pods' } } },
    /either apiVersion or apiVersions/,
  ],
  [
    'a watch with both',
    { ...complete, watchedResources: { x: { resources: 'pods', apiVersion: 'v1', apiVersions: ['v1'] } } },
    /either apiVersion or apiVersions/,
  ],
  [
    'a kind in place of a resource',
    { ...complete, watchedResources: { x: { resources: 'Pod', apiVersion: 'v1' } } },
    /watchedResources\.x\.resources.*should match/,
  ],
  [
    'a number for a duration',
    { ...complete, controller: { debounce: 5 } },
    /controller\.debounce.*must be of type string/,
  ],
  [
    'a unit that is none',
    { ...complete, controller: { debounce: '5 sec' } },
    /controller\.debounce.*should match/,
  ],
  [
    'an unknown way to match',
    { ...complete, maps: { m: { match: 'prefix' } } },
    /Unsupported value: "prefix".*"beg"/,
  ],
  [
    'a snippet without a template',
    { ...complete, templateSnippets: { s: {} } },
    /templateSnippets\.s\.template: Required/,
  ],
  [
    'an enum without values',
    { ...complete, annotations: { 'a/b': { type: 'enum', appliesTo: ['ingress'], doc: 'x' } } },
    /enum lists the values of an annotation/,
  ],
  ['a test without assertions', tested({}), /every validation test needs assertions/],
  ['a test with an empty list of them', tested({ assertions: [] }), /should have at least 1 items/],
  [
    'an unknown assertion',
    tested({ assertions: [{ type: 'contain' }] }),
    /Unsupported value: "contain".*"contains"/,
  ],
  [
    'an assertion without its target',
    tested({ assertions: [{ type: 'contains', pattern: 'x' }] }),
    /type 'contains' or 'not_contains' needs target, pattern/,
  ],
  [
    'an assertion with the field of another',
    tested({ assertions: [{ ...assertion, patterns: ['x', 'y'] }] }),
    /type 'contains' or 'not_contains' needs target, pattern/,
  ],
  [
    'assertions of what all tests share',
    { ...complete, validationTests: { _global: { assertions: [assertion] } } },
    /_global, which all tests share, takes none/,
  ],
  ['an unknown key', { ...complete, templateSnippet: {} }, /unknown field "spec\.templateSnippet"/],
];

const FULL: readonly [string, object][] = [
  ['only libraries', { libraryRefs: [{ name: 'base', revision: 'base-1' }] }],
  ['all of it itself', complete],
  ['a test', tested({ assertions: [assertion] })],
  [
    'a library of everything',
    {
      ...complete,
      maps: { m: { match: 'str' } },
      settings: { a: { b: [1] } },
      annotations: {
        'a/b': { type: 'enum', enum: ['x'], default: 'x', appliesTo: ['ingress'], doc: 'd', security: true },
      },
      validationTests: {
        _global: {
          fixtures: { ingresses: [{ apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec: { a: 1 } }] },
        },
        t: {
          assertions: [
            { type: 'haproxy_valid' },
            { type: 'match_count', target: 'plan', pattern: 'x', expected: 0 },
          ],
        },
      },
      controller: { debounce: '0s', budgets: { routes: 5 } },
    },
  ],
];

function shippedLibraries(): readonly [string, object][] {
  const folder = new URL('../../chart/libraries/', import.meta.url);
  return readdirSync(folder).map((file) => [
    file.replace('.yaml', ''),
    parse(readFileSync(new URL(file, folder), 'utf8')) as object,
  ]);
}

forEachCluster((cluster) => {
  beforeAll(() => sharedDefinitions(cluster().api), 60_000);

  /** The way of kubectl: unknown fields are refused. */
  async function create(resource: Resource, name: string, spec: object): Promise<void> {
    await using namespace = await cluster().namespace();
    await cluster().api.json({
      method: 'POST',
      path: `/apis/${resource.apiVersion}/namespaces/${namespace.name}/${resource.resource}`,
      query: { fieldValidation: 'Strict' },
      body: { apiVersion: resource.apiVersion, kind: resource.kind, metadata: { name }, spec },
    });
    const key = { resource, namespace: namespace.name, name };
    expect(await getObject(cluster().api, key), 'stored as it was written').toMatchObject({ spec });
  }

  describe('definitions', () => {
    test.each(['haproxytemplateconfigs', 'haproxytemplatelibraries'])('%s is structural', async (plural) => {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.haproxy-haptic.org`;
      const { status } = (await cluster().api.json({ path })) as {
        status: { conditions: { type: string; status: string; message: string }[] };
      };
      const conditions = new Map(status.conditions.map((one) => [one.type, one]));
      expect(conditions.get('Established')?.status).toBe('True');
      expect(conditions.get('NamesAccepted')?.status).toBe('True');
      expect(conditions.get('NonStructuralSchema')).toBeUndefined();
    });
  });

  describe('a config', () => {
    test.each(FULL)('may have %s', (_, spec) => create(configs, 'config', spec));

    test.each(INVALID)('may not have %s', async (_, spec, message) => {
      await expect(create(configs, 'config', spec)).rejects.toThrow(message);
    });
  });

  describe('a library', () => {
    test.each(shippedLibraries())('may be the shipped %s', (name, spec) =>
      create(libraries, name, { ...spec, revision: `${name}-1` }),
    );

    test('needs a revision', async () => {
      await expect(create(libraries, 'x', {})).rejects.toThrow(/spec\.revision: Required/);
    });

    test('refers to no other library', async () => {
      await expect(create(libraries, 'x', { revision: '1', libraryRefs: [] })).rejects.toThrow(
        /unknown field "spec\.libraryRefs"/,
      );
    });
  });
});
