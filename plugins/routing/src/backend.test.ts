import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { backendName, backendProblem } from './backend.ts';
import type { BackendRef } from './route.ts';

const name = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,6}[a-z0-9])?$/);
const ref = fc.record(
  {
    namespace: name,
    service: name,
    port: fc.integer({ min: 1, max: 65_535 }),
    profile: fc.constantFrom('', 'grpc', 'a'),
    serverKeywords: fc.array(fc.constantFrom('proto', 'h2', 'ssl'), { maxLength: 2 }),
  },
  { requiredKeys: ['namespace', 'service', 'port'] },
);

test('different references have different names, of letters that HAProxy takes', () => {
  const identity = ({ namespace, service, port, profile = '', serverKeywords = [] }: BackendRef): string =>
    JSON.stringify([namespace, service, port, profile, serverKeywords]);
  fc.assert(
    fc.property(ref, ref, (a, b) => {
      expect(backendName(a)).toMatch(/^[A-Za-z0-9_.:-]+$/);
      expect(backendName(a) === backendName(b)).toBe(identity(a) === identity(b));
    }),
  );
});

test('names read like what they stand for', () => {
  expect(backendName({ namespace: 'shop', service: 'cart', port: 80 })).toBe('shop_cart_80');
});

test.each([
  { namespace: 'a_b', service: 'c', port: 80 },
  { namespace: 'a', service: 'b c', port: 80 },
  { namespace: 'a', service: '', port: 80 },
  { namespace: 'a', service: 'b', port: 0 },
  { namespace: 'a', service: 'b', port: 80.5 },
])('%j is refused', (bad) => {
  expect(backendProblem(bad)).toBeDefined();
});
