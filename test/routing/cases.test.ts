import { describe, expect, test } from 'vitest';
import { forEachVersion } from '../haproxy/versions.ts';
import { caseDifferences, caseRules } from './case-run.ts';
import { caseTable } from './case-table.ts';
import { withoutFastPath } from './libraries.ts';
import { ingressObjects, isIngressRule, ruleSource, servicesOf } from './rules.ts';
import { startSite, upstream } from './site.ts';

const { rules, cases } = caseTable;

test('the table is whole', () => {
  expect(rules).toHaveLength(98);
  expect(cases).toHaveLength(191);
});

forEachVersion((haproxy) => {
  const variants = { 'fast path': undefined, 'slow path alone': withoutFastPath } as const;

  describe.each(Object.entries(variants))('%s', (path, editBase) => {
    test('all cases through the route model', async () => {
      const objects = servicesOf(rules, (await upstream()).port);
      const site = await startSite(haproxy, { sources: [ruleSource(caseRules)], objects, editBase });
      const differences = await caseDifferences(site, cases);
      console.log(
        `HAProxy ${haproxy.minor}, ${path}: ${cases.length - differences.length} of ${cases.length}`,
      );
      expect(differences).toEqual([]);
    });

    test('what Ingress can express, through Ingress objects', async () => {
      const own = rules.filter(isIngressRule);
      const regexHosts = new Set(rules.filter(({ path }) => path?.type === 'regex').map(({ host }) => host));
      const table = cases.filter(({ listener, host }) => listener === 'ingress' && !regexHosts.has(host));
      const { port } = await upstream();
      const objects = { ...servicesOf(own, port), ...ingressObjects(own) };
      const site = await startSite(haproxy, { objects, editBase });
      const differences = await caseDifferences(site, table);
      console.log(
        `HAProxy ${haproxy.minor}, ${path}, Ingress: ${table.length - differences.length} of ${table.length}`,
      );
      expect(differences).toEqual([]);
      expect(table).toHaveLength(90);
    });
  });
});
