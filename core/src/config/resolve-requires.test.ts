import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mergeSources } from './merge-sources.ts';
import { resolveRequires } from './resolve-requires.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const test = (rest: object) => ({ assertions: [{ type: 'haproxy_valid' }], ...rest });
const route = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata: { name: 'r' } };

const config = mergeSources(
  {
    sources: [
      {
        kind: 'library',
        name: 'gateway',
        spec: {
          watchedResources: {
            httproutes: {
              apiVersion: 'gateway.networking.k8s.io/v1',
              resources: 'httproutes',
              optional: true,
            },
          },
          templateSnippets: {
            gateway: { template: 'g', requires: ['httproutes'] },
            timeouts: { template: 't', requires: ['httproutes.spec.rules.timeouts'] },
            always: { template: 'a' },
          },
          maps: { gateway: { match: 'str', requires: ['httproutes'] } },
          validationTests: {
            _global: { fixtures: { httproutes: [route], services: [] } },
            requiring: test({ requires: ['httproutes'] }),
            'with-fixtures': test({ fixtures: { httproutes: [route] } }),
            plain: test({}),
          },
        },
      },
      {
        kind: 'config',
        name: 'main',
        spec: {
          haproxyConfig: { template: 'x' },
          watchedResources: { services: { apiVersion: 'v1', resources: 'services' } },
        },
      },
    ],
  },
  [],
  hash,
);

describe('resolveRequires', () => {
  it('keeps everything, digest included, where everything is served', () => {
    const resolved = resolveRequires(config, () => true, hash);
    expect(resolved.dropped).toEqual([]);
    expect(resolved.config).toEqual(config);
  });

  it('drops a watch that is not served with all that requires it', () => {
    const resolved = resolveRequires(config, ({ watch }) => watch !== 'httproutes', hash);
    expect(resolved.dropped).toEqual([
      { kind: 'watchedResources', name: 'httproutes', missing: ['httproutes'] },
      { kind: 'templateSnippets', name: 'gateway', source: 'gateway', missing: ['httproutes'] },
      {
        kind: 'templateSnippets',
        name: 'timeouts',
        source: 'gateway',
        missing: ['httproutes.spec.rules.timeouts'],
      },
      { kind: 'maps', name: 'gateway', source: 'gateway', missing: ['httproutes'] },
      { kind: 'validationTests', name: 'requiring', source: 'gateway', missing: ['httproutes'] },
      { kind: 'validationTests', name: 'with-fixtures', source: 'gateway', missing: ['httproutes'] },
    ]);
    expect(Object.keys(resolved.config.watchedResources)).toEqual(['services']);
    expect(Object.keys(resolved.config.templateSnippets)).toEqual(['always']);
    expect(Object.keys(resolved.config.validationTests).toSorted()).toEqual(['_global', 'plain']);
    expect(resolved.config.validationTests['_global']!.fixtures).toEqual({ services: [] });
    expect(resolved.config.digest).not.toBe(config.digest);
    expect(Object.isFrozen(resolved.config.templateSnippets)).toBe(true);
  });

  it('drops what requires a field that the served version lacks', () => {
    const resolved = resolveRequires(config, ({ field }) => field.length === 0, hash);
    expect(resolved.dropped.map(({ name }) => name)).toEqual(['timeouts']);
  });

  it('refuses to go without a watch that is not optional', () => {
    expect(() => resolveRequires(config, ({ watch }) => watch !== 'services', hash)).toThrow(
      'watchedResources.services: services of v1 is not served, and the watch is not optional',
    );
  });
});

describe('requirements of the shared test', () => {
  it('are every test’s', () => {
    const shared = mergeSources(
      {
        sources: [
          {
            kind: 'config',
            name: 'main',
            spec: {
              haproxyConfig: { template: 'x' },
              watchedResources: { pods: { apiVersion: 'v1', resources: 'pods', optional: true } },
              validationTests: { _global: { requires: ['pods'] }, t: test({}) },
            },
          },
        ],
      },
      [],
      hash,
    );
    expect(resolveRequires(shared, () => false, hash).dropped).toContainEqual({
      kind: 'validationTests',
      name: 't',
      source: 'main',
      missing: ['pods'],
    });
  });
});
