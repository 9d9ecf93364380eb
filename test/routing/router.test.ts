import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { forEachVersion, type Haproxy } from '../haproxy/versions.ts';
import { requestBytes, type HeaderOrQuery, type Rule } from './case-table.ts';
import { replaceOnce } from './libraries.ts';
import { haproxyName, ruleSource, servicesOf } from './rules.ts';
import { outcomeOf, startSite, upstream, type Site, type SiteOptions } from './site.ts';

const host = 'a.test';

function rule(order: number, path: string, rest: Partial<Rule> = {}): Rule {
  const { backend = `be${order}` } = rest;
  return { listener: 'ingress', host, path: { type: 'prefix', value: path }, order, ...rest, backend };
}

function header(name: string, value: string, match: HeaderOrQuery['match'] = 'exact'): Partial<Rule> {
  return { conditions: { headers: [{ name, match, value }] } };
}

async function start(haproxy: Haproxy, rules: readonly Rule[], options: SiteOptions = {}): Promise<Site> {
  const objects = servicesOf(rules, (await upstream()).port);
  return startSite(haproxy, { sources: [ruleSource(rules)], objects, ...options });
}

async function get(
  site: Site,
  path: string,
  headers: readonly (readonly [string, string])[] = [],
  at = host,
): Promise<string> {
  return outcomeOf(await site.send('i80', requestBytes({ method: 'GET', host: at, path, headers })));
}

async function residentMegabytes({ haproxy }: Site): Promise<number> {
  const status = await readFile(`/proc/${haproxy.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

forEachVersion((haproxy) => {
  test('a list longer than a map line is read to its end', async () => {
    const rules = Array.from({ length: 600 }, (_, order) => {
      return rule(order, '/', {
        ...header('x-tenant', `tenant-${order}-${'x'.repeat(60)}`),
        backend: `be${order % 7}`,
      });
    });
    const site = await start(haproxy, rules);
    for (const order of [0, 1, 150, 298, 599]) {
      const wanted = haproxyName(`be${order % 7}`);
      expect(await get(site, '/', [['X-Tenant', `tenant-${order}-${'x'.repeat(60)}`]])).toBe(wanted);
    }
    expect(await get(site, '/', [['X-Tenant', 'tenant-600']])).toBe('404');
  });

  test('more lists than the cache holds are decided right, again and again', async () => {
    // A cache that holds three of these lists.
    const editBase = (text: string): string => replaceOnce(text, '8 * 1024 * 1024', '40 * 1024');
    const rules = Array.from({ length: 30 }, (_, at) =>
      [0, 1, 2].map((item) => {
        const value = `${at}-${item}-${'y'.repeat(3500)}`;
        return rule(3 * at + item, `/p${at}`, { ...header('x-v', value), backend: `be${item}` });
      }),
    ).flat();
    const site = await start(haproxy, rules, { editBase });
    for (const round of [1, 2]) {
      for (let at = 0; at < 30; at += 1) {
        const headers = [['x-v', `${at}-2-${'y'.repeat(3500)}`]] as const;
        expect([round, at, await get(site, `/p${at}`, headers)]).toEqual([round, at, haproxyName('be2')]);
      }
    }
  });

  test('the last header of a full buffer is seen', async () => {
    const site = await start(haproxy, [rule(0, '/', header('x-last', 'here'))]);
    const padding = Array.from({ length: 14 }, (_, at) => [`x-pad-${at}`, 'z'.repeat(1000)] as const);
    expect(await get(site, '/', [...padding, ['x-last', 'here']])).toBe(haproxyName('be0'));
    expect(await get(site, '/', [...padding, ['x-last', 'gone']])).toBe('404');
  });

  test('no part of a request passes for another one', async () => {
    const site = await start(haproxy, [
      rule(0, '/open', { backend: 'open' }),
      rule(1, '/', { ...header('x-key', '1'), backend: 'keyed' }),
    ]);
    const forged = [
      'GET /closed HTTP/1.1\r\nHost: a.test\tGET\t/open\r\n\r\n',
      'GET /closed HTTP/1.1\r\nHost: a.test\tx-key: 1\r\n\r\n',
      'GET /closed HTTP/1.1\r\nHost: a.test\r\nX-Other: x-key: 1\r\n\r\n',
      'GET /closed?\tx-key:%201 HTTP/1.1\r\nHost: a.test\r\n\r\n',
      'GET /closed%0Ax-key:%201 HTTP/1.1\r\nHost: a.test\r\n\r\n',
      'GET\t/open /closed HTTP/1.1\r\nHost: a.test\r\n\r\n',
    ];
    for (const bytes of forged) {
      const outcome = outcomeOf(
        await site.send('i80', bytes.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')),
      );
      expect(['400', '404'], JSON.stringify(bytes)).toContain(outcome);
    }
    expect(await get(site, '/closed', [['x-key', '1']])).toBe(haproxyName('keyed'));
  });

  test('a pattern that explodes gives up, and one that does not compile disables its rule alone', async () => {
    const regex = (value: string): Partial<Rule> => ({ path: { type: 'regex', value } });
    const site = await start(haproxy, [
      rule(0, '/', { ...regex('/(a+)+$'), backend: 'explodes' }),
      rule(1, '/', { ...regex('/(*LIMIT_MATCH=99999999)(b+)+$'), backend: 'verb' }),
      rule(2, '/', { ...regex('/bad(('), backend: 'bad' }),
      rule(3, '/', { ...regex('/c+'), backend: 'fine' }),
    ]);
    const before = performance.now();
    expect(await get(site, `/${'a'.repeat(2000)}!`)).toBe('404');
    expect(performance.now() - before).toBeLessThan(1000);
    expect(await get(site, '/aaa')).toBe(haproxyName('explodes'));
    expect(await get(site, '/bbb')).toBe('404');
    expect(await get(site, '/bad((')).toBe('404');
    expect(await get(site, '/ccc')).toBe(haproxyName('fine'));
  });

  test('hosts of any length and number of labels get an answer', async () => {
    const site = await start(haproxy, [
      rule(0, '/', { host: null, backend: 'any' }),
      rule(1, '/', { host: '*.a.test', wildcard: 'suffix', backend: 'wild' }),
    ]);
    expect(await get(site, '/', [], `${'x.'.repeat(120)}a.test`)).toBe(haproxyName('wild'));
    expect(await get(site, '/', [], `${'x.'.repeat(3000)}a.test`)).toBe(haproxyName('any'));
  });

  test('OPTIONS * reaches the root prefix of its host', async () => {
    const site = await start(haproxy, [rule(0, '/', { backend: 'root' })]);
    const bytes = 'OPTIONS * HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n';
    expect(outcomeOf(await site.send('i80', bytes))).toBe(haproxyName('root'));
  });

  test('CONNECT is refused', async () => {
    const site = await start(haproxy, [rule(0, '/')]);
    const bytes = 'CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n';
    expect((await site.send('i80', bytes)).status).toBe(405);
  });

  test('the memory of decisions stays bounded, however many lists there are', async () => {
    // Compiled, these lists take about 20 MB; with this limit two threads keep less than 2 MB of them.
    const editBase = (text: string): string => replaceOnce(text, '8 * 1024 * 1024', '1024 * 1024');
    const headers = Array.from({ length: 80 }, (_, at) => {
      return { name: `h${at}`, match: 'exact', value: '1' } as const;
    });
    const rules = Array.from({ length: 1000 }, (_, order) => {
      const own = { name: 'x-own', match: 'exact', value: `${order}` } as const;
      return rule(order, `/p${order}`, { conditions: { headers: [...headers, own] }, backend: 'be' });
    });
    const templateSnippets = { 'global-threads': { template: 'nbthread 2\n' } };
    const site = await start(haproxy, rules, { editBase, config: { templateSnippets } });
    const before = await residentMegabytes(site);
    for (let order = 0; order < rules.length; order += 1) await get(site, `/p${order}`, [['h0', '2']]);
    expect((await residentMegabytes(site)) - before).toBeLessThan(12);
    const all = headers.map(({ name, value }) => [name, value] as const);
    expect(await get(site, '/p7', [...all, ['x-own', '7']])).toBe(haproxyName('be'));
    expect(await get(site, '/p999', [...all, ['x-own', '999']])).toBe(haproxyName('be'));
  });
});
