import { expect, test } from 'vitest';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { caseRules } from './case-run.ts';
import { requestBytes, type Rule } from './case-table.ts';
import { haproxyName, ruleSource, servicesOf } from './rules.ts';
import { outcomeOf, startSite, upstream, type Site } from './site.ts';

const requests = 400;

async function countsOf(site: Site, path: string): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  const bytes = requestBytes({ method: 'GET', host: 't.test', path });
  for (let sent = 0; sent < requests; sent += 1) {
    const outcome = outcomeOf(await site.send('g80', bytes));
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

forEachVersion((haproxy) => {
  test('traffic is shared by weight', async () => {
    const objects = servicesOf(caseRules, (await upstream()).port);
    const site = await startSite(haproxy, { sources: [ruleSource(caseRules)], objects });
    const [a, b] = [haproxyName('w_a'), haproxyName('w_b')];
    // Six standard deviations around the expected count: about once in a thousand million runs by chance.
    const within = (expected: number, share: number): readonly [number, number] => {
      const margin = 6 * Math.sqrt(requests * share * (1 - share));
      return [expected - margin, expected + margin];
    };
    const seventy = await countsOf(site, '/w1');
    const [low, high] = within(280, 0.7);
    expect(seventy[a]).toBeGreaterThan(low);
    expect(seventy[a]).toBeLessThan(high);
    expect((seventy[a] ?? 0) + (seventy[b] ?? 0)).toBe(requests);

    const half = await countsOf(site, '/w3');
    const [least, most] = within(200, 0.5);
    expect(half[a]).toBeGreaterThan(least);
    expect(half[a]).toBeLessThan(most);
    expect((half[a] ?? 0) + (half['500'] ?? 0)).toBe(requests);

    for (const path of ['/w4', '/w6']) {
      const counts = await countsOf(site, path);
      expect(counts[a]).toBeGreaterThan(requests - 20);
      expect((counts[a] ?? 0) + (counts[b] ?? 0)).toBe(requests);
    }
  });

  test('the access log names the route of every decision', async () => {
    const rule = (order: number, name: string, rest: Partial<Rule>): Rule => {
      return { listener: 'ingress', host: `${name}.test`, name, order, backend: 'a', ...rest };
    };
    const shared = ['a', 'b'].map((backend) => ({ backend, weight: 1 }));
    const rules: readonly Rule[] = [
      rule(1, 'plain', {}),
      rule(2, 'cond', { conditions: { method: 'GET' } }),
      rule(3, 'weighted', { targets: shared }),
      rule(4, 'any', { host: null, path: { type: 'prefix', value: '/deep' } }),
      rule(5, 'exact', { host: 'cond.test', path: { type: 'exact', value: '/x' } }),
    ];
    const site = await startSite(haproxy, {
      sources: [ruleSource(rules)],
      objects: servicesOf(rules, (await upstream()).port),
      config: { settings: { accessLog: true } },
    });
    const wanted = {
      'plain.test/1': 'cases/plain/1',
      'cond.test/2': 'cases/cond/2',
      'weighted.test/3': 'cases/weighted/3',
      'nobody.test/deep/4': 'cases/any/4',
      'plain.test//deep/5': 'cases/plain/1',
      'cond.test/x': 'cases/exact/5',
      'nobody.test/6': '-',
    };
    for (const [url, route] of Object.entries(wanted)) {
      const slash = url.indexOf('/');
      const path = url.slice(slash);
      const logged = (): string | undefined =>
        site.haproxy
          .output()
          .split('\n')
          .find((text) => text.includes(`GET ${path} HTTP`));
      // HAProxy drops a line for a standard output that another thread holds.
      const line = await until(async () => {
        await site.send('i80', requestBytes({ method: 'GET', host: url.slice(0, slash), path }));
        return await until(logged, { deadlineMs: 2_000 });
      });
      expect([url, line.split('route=')[1]]).toEqual([url, route]);
    }
  });
});
