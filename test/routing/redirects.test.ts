import type { Redirect, Route, RouteSource } from '@haptic/routing';
import { expect, test } from 'vitest';
import { forEachVersion } from '../haproxy/versions.ts';
import { requestBytes } from './case-table.ts';
import { ruleSource } from './rules.ts';
import { startSite } from './site.ts';

const redirects: Readonly<Record<string, Redirect>> = {
  '/r1': { code: 302, host: 'example.org' },
  '/r2': { code: 301, scheme: 'https' },
  '/r3': { code: 303, port: 8443 },
  '/r4': { code: 307, path: { kind: 'full', value: '/new/full' } },
  '/r5': { code: 308, path: { kind: 'prefix', value: '/xyz/' } },
  '/r6': { code: 302, path: { kind: 'prefix', value: '/' } },
  '/r7': {
    code: 301,
    scheme: 'https',
    host: 'h.example',
    port: 444,
    path: { kind: 'prefix', value: '/p' },
  },
};

const wanted: Readonly<Record<string, string>> = {
  '/r1/a?b=c': '302 http://example.org/r1/a?b=c',
  '/r2/': '301 https://a.test/r2/',
  '/r3': '303 http://a.test:8443/r3',
  '/r4/x?y=1': '307 http://a.test/new/full?y=1',
  '/r5': '308 http://a.test/xyz',
  '/r5/': '308 http://a.test/xyz/',
  '/r5/bar?z': '308 http://a.test/xyz/bar?z',
  '//r5//bar': '308 http://a.test/xyz/bar',
  '/r6': '302 http://a.test/',
  '/r6/bar': '302 http://a.test/bar',
  '/r7/b': '301 https://h.example:444/p/b',
};

function source(conditions: Route['conditions']): RouteSource {
  return {
    name: 'redirects',
    routes: (input) => {
      const rules = Object.keys(redirects).map((value, order) => {
        return { listener: 'ingress', host: 'a.test', path: { type: 'prefix', value }, order } as const;
      });
      const set = ruleSource(rules).routes(input);
      const routes = set.routes.map((route) => {
        const redirect = redirects[route.path.value];
        const targets = redirect && [{ to: { kind: 'redirect' as const, redirect }, weight: 1 }];
        return { ...route, conditions, targets: targets ?? [] };
      });
      return { ...set, routes };
    },
  };
}

forEachVersion((haproxy) => {
  test.each([
    ['plain', []],
    ['conditional', [{ kind: 'method', value: 'GET' }]],
  ] as const)('%s routes redirect', async (_kind, conditions) => {
    const site = await startSite(haproxy, { sources: [source(conditions)] });
    for (const [path, location] of Object.entries(wanted)) {
      const response = await site.send('i80', requestBytes({ method: 'GET', host: 'A.test:80', path }));
      expect([path, `${response.status} ${response.header('location')}`]).toEqual([path, location]);
    }
  });
});
