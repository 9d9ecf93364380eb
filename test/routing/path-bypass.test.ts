import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Route, RouteSource } from '@haptic/routing';
import { forEachVersion } from '../haproxy/versions.ts';
import { requestBytes, type Rule } from './case-table.ts';
import { haproxyName, ruleSource, servicesOf } from './rules.ts';
import { outcomeOf, startSite, upstream, type Site } from './site.ts';

/** What the most lenient application may take a path for: all that any of them does, done at once. */
function readLeniently(target: string): string {
  const path = (target.split('?')[0] ?? '').replaceAll('\\', '/');
  const decoded = decodeOnce(decodeUnreserved(path)).replaceAll('\\', '/').split('\0')[0] ?? '';
  const out: string[] = [];
  for (const segment of decoded.split('/')) {
    const bare = segment.split(';')[0] ?? '';
    if (bare === '..') out.pop();
    else if (bare !== '' && bare !== '.') out.push(bare);
  }
  return `/${out.join('/')}`;
}

function decodeOnce(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** HAProxy forwards the normalised path: what it decodes can make an escape that the application decodes again. */
function decodeUnreserved(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (escape) => {
    const character = decodeOnce(escape);
    return /[\w.~-]/.test(character) ? character : escape;
  });
}

const variants = [
  '//admin',
  '///admin//x',
  '/%2Fadmin',
  '/%2fadmin',
  '/x;/..;/admin',
  '/x/..;/admin',
  '/;/admin',
  '/admin;x=1',
  '/%5Cadmin',
  '/%5c%5cadmin',
  '/\\admin',
  '\\admin',
  '/x\\..\\admin',
  '/x%5C..%5Cadmin',
  '/x/%2e%2e/admin',
  '/x/.%2E/admin',
  '/x/%2E%2E%2Fadmin',
  '/./admin',
  '/%61dmin',
  '/%2561dmin',
  '/%%36%31dmin',
  '/x/%2%65%2%65/admin',
  '/admin%00',
  '/admin%00.html',
  '/x/..//admin',
  '//x/../admin',
  '/admin/../admin',
  '/%61%64%6d%69%6e',
];

const host = { exact: 'exact.test', wildcard: 'w.wild.test', none: 'nobody.test', conditional: 'cond.test' };

/** An open root and a guarded `/admin` on each kind of host. */
const hosts: readonly Pick<Rule, 'host' | 'wildcard' | 'conditions'>[] = [
  { host: 'exact.test' },
  { host: '*.wild.test', wildcard: 'one-label' },
  { host: null },
  { host: 'cond.test', conditions: { method: 'GET' } },
];
const rules: readonly Rule[] = hosts.flatMap((on, index) => {
  const rule = (value: string, backend: string, order: number): Rule => {
    return { listener: 'ingress', ...on, path: { type: 'prefix', value }, backend, order };
  };
  return [rule('/', 'open', 2 * index), rule('/admin', 'admin', 2 * index + 1)];
});

function secured(source: RouteSource): RouteSource {
  const guard = (route: Route): Route =>
    route.path.value === '/admin' ? { ...route, security: true } : route;
  return {
    name: source.name,
    routes: (input) => {
      const set = source.routes(input);
      return { ...set, routes: set.routes.map(guard) };
    },
  };
}

async function outcome(site: Site, host: string, path: string): Promise<string> {
  return outcomeOf(await site.send('i80', requestBytes({ method: 'GET', host, path })));
}

function mayMeanAdmin(target: string): boolean {
  return /^\/admin(\/|$)/.test(readLeniently(target));
}

/** Open answers to what an application may read as `/admin`. */
async function bypasses(site: Site, targets: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const target of targets.filter(mayMeanAdmin)) {
    for (const [kind, name] of Object.entries(host)) {
      const answer = await outcome(site, name, target);
      if (!['400', haproxyName('admin')].includes(answer)) found.push(`${kind} ${target}: ${answer}`);
    }
  }
  return found;
}

forEachVersion((haproxy) => {
  const start = async (source: RouteSource): Promise<Site> =>
    startSite(haproxy, { sources: [source], objects: servicesOf(rules, (await upstream()).port) });

  test('no spelling of a guarded path reaches an open route', async () => {
    const site = await start(secured(ruleSource(rules)));
    for (const name of Object.values(host)) {
      expect(await outcome(site, name, '/admin/x')).toBe(haproxyName('admin'));
      expect(await outcome(site, name, '/other/%C3%A9?a=%2F;b')).toBe(haproxyName('open'));
    }
    expect(await bypasses(site, variants)).toEqual([]);
    // On hosts that guard nothing most of them do: the application alone knows how it reads a path.
    expect((await bypasses(await start(ruleSource(rules)), variants)).length).toBeGreaterThan(40);
  });

  test('nor does any mixture of spellings', async () => {
    const site = await start(secured(ruleSource(rules)));
    const piece = fc.constantFrom(
      '/',
      '//',
      '\\',
      '%2F',
      '%5c',
      ';',
      ';a=1',
      '.',
      '..',
      '%2e',
      '%2E.',
      'x',
      '%25',
    );
    const letter = (plain: string): fc.Arbitrary<string> =>
      fc.constantFrom(
        plain,
        plain,
        `%${plain.charCodeAt(0).toString(16)}`,
        `%%3${plain.charCodeAt(0).toString(16)[0]}%3${plain.charCodeAt(0).toString(16)[1]}`,
      );
    const word = fc.tuple(...'admin'.split('').map(letter)).map((letters) => letters.join(''));
    const pieces = fc.array(piece, { maxLength: 5 }).map((list) => list.join(''));
    const target = fc
      .tuple(pieces, word, pieces)
      .map(([before, middle, after]) => `/${before}${middle}${after}`);
    const seed = Number(process.env['HAPTIC_SEED'] ?? 1);
    expect(await bypasses(site, fc.sample(target, { seed, numRuns: 300 })), `HAPTIC_SEED=${seed}`).toEqual(
      [],
    );
  });

  test('without guarded routes, merged slashes decide and the path is forwarded as it came', async () => {
    const site = await start(ruleSource(rules));
    for (const name of Object.values(host)) {
      expect(await outcome(site, name, '//admin')).toBe(haproxyName('admin'));
      expect(await outcome(site, name, '/x/..//admin')).toBe(haproxyName('admin'));
      expect(await outcome(site, name, '/a;b')).toBe(haproxyName('open'));
      expect(await outcome(site, name, '/a%2Fb')).toBe(haproxyName('open'));
    }
    const response = await site.send(
      'i80',
      requestBytes({ method: 'GET', host: host.exact, path: '//admin//x?a=//b' }),
    );
    expect(response.body.toString()).toContain('"path":"//admin//x?a=//b"');
  });
});
