import type { JsonObject } from '@haptic/core/contract';
import { describe, expect, test } from 'vitest';
import { ingressCheck } from './ingress-check.ts';

function problemsOf(spec: unknown): readonly string[] {
  const object = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'x' }, spec };
  return ingressCheck.problems(object).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

const cart: JsonObject = { service: { name: 'cart', port: { number: 80 } } };

function withPath(path: JsonObject): JsonObject {
  return { rules: [{ http: { paths: [{ path: '/', pathType: 'Prefix', backend: cart, ...path }] } }] };
}

function withPort(port: JsonObject): JsonObject {
  return { defaultBackend: { service: { name: 'cart', port } } };
}

describe('admits', () => {
  test.each<[string, JsonObject]>([
    ['a path', withPath({})],
    ['a free path', withPath({ pathType: 'ImplementationSpecific', path: null })],
    ['a default backend alone', { defaultBackend: cart, rules: null }],
    ['hosts', { rules: [{ host: 'a.test' }, { host: '*.a.test' }, { host: '' }, { host: null }] }],
    ['a named port', withPort({ name: 'http', number: 0 })],
    ['a resource', { defaultBackend: { resource: { kind: 'Bucket', name: 'b' } } }],
    ['unknown fields', { ...withPath({ regexp: true }), extra: 1 }],
    ['tls', { ...withPath({}), tls: [{ hosts: ['a.test'], secretName: 's' }, {}] }],
  ])('%s', (_what, spec) => {
    expect(problemsOf(spec)).toEqual([]);
  });
});

const PATH = 'spec.rules.0.http.paths.0';
const NUMBER = 'a whole number from 1 to 65535';
const PORT = 'spec.defaultBackend.service.port';

describe('refuses', () => {
  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'spec: missing, expected an object with rules'],
    ['no rules', {}, 'spec: expected rules or a defaultBackend'],
    ['rules of text', { rules: 'nonsense' }, 'spec.rules: expected a list of rules, got "nonsense"'],
    [
      'a host with a space',
      { rules: [{ host: 'he llo' }] },
      'spec.rules.0.host: expected a DNS name such as shop.example or *.shop.example, got "he llo"',
    ],
    ['no paths', { rules: [{ http: {} }] }, 'spec.rules.0.http.paths: missing, expected a list of paths'],
    [
      'a wrong path type',
      withPath({ pathType: 'Prefixx' }),
      `${PATH}.pathType: expected one of Exact, Prefix, ImplementationSpecific, got "Prefixx", did you mean "Prefix"?`,
    ],
    [
      'no path type',
      withPath({ pathType: null }),
      `${PATH}.pathType: missing, expected one of Exact, Prefix, ImplementationSpecific`,
    ],
    [
      'a relative path',
      withPath({ path: 'a' }),
      `${PATH}.path: expected a path that begins with "/", got "a"`,
    ],
    ['no path', withPath({ path: null }), `${PATH}.path: missing, expected a path that begins with "/"`],
    [
      'a path that steps up',
      withPath({ path: '/a/..' }),
      `${PATH}.path: expected a path without "//", "/./", "/../" and "%2f", got "/a/.."`,
    ],
    ['no backend', withPath({ backend: null }), `${PATH}.backend: missing, expected an object with service`],
    [
      'an empty backend',
      withPath({ backend: {} }),
      `${PATH}.backend: expected a service, or else a resource`,
    ],
    [
      'a Service without name',
      { defaultBackend: { service: { port: { number: 80 } } } },
      'spec.defaultBackend.service.name: missing, expected the name of a Service',
    ],
    ['no port', withPort({}), `${PORT}: expected either name or number`],
    ['a port with both', withPort({ name: 'http', number: 80 }), `${PORT}: expected either name or number`],
    ['a port of text', withPort({ number: '80' }), `${PORT}.number: expected ${NUMBER}, got "80"`],
    ['a port too high', withPort({ number: 65_536 }), `${PORT}.number: expected ${NUMBER}, got 65536`],
    ['half a port', withPort({ number: 0.5 }), `${PORT}.number: expected ${NUMBER}, got 0.5`],
    [
      'a port name too long',
      withPort({ name: 'sixteen-letters-' }),
      `${PORT}.name: expected the name of a port: at most 15 lower-case letters, digits and single hyphens, got "sixteen-letters-"`,
    ],
  ])('%s', (_what, spec, problem) => {
    expect(problemsOf(spec)).toEqual([problem]);
  });

  test('all of it at once', () => {
    const spec = { rules: [{ host: 'a b' }, ...(withPath({ pathType: 'x', backend: 3 })['rules'] as [])] };
    expect(problemsOf(spec)).toHaveLength(3);
  });
});
