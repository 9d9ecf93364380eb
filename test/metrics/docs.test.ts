import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { familiesOf } from '@haptic/prometheus/testing';
import { definedIn, tableBehind } from './definitions.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/metrics.md'), 'utf8');
const golden = readFileSync(join(root, 'plugins/metrics/src/testing/golden-scrape.txt'), 'utf8');

const own = definedIn('plugins/metrics/src');
const others = definedIn('core/src', 'kube/src', 'plugins').filter(
  ({ name }) => !own.some((of) => of.name === name),
);

test('the table of the controller is the golden scrape', () => {
  const scraped = familiesOf(golden)
    .filter(({ name }) => !name.startsWith('haptic_plugin_'))
    .map(({ name, help, samples }) => ({
      name,
      help,
      labels: [...new Set(samples.flatMap(({ labels }) => labels))].filter((label) => label !== 'le'),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  expect(scraped).toEqual(own);
  expect(tableBehind('controller', page)).toEqual(own);
});

test('the table of plugins and the host is what they define', () => {
  expect(others.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['haptic_quarantined_objects', 'haptic_plugin_errors_total']),
  );
  expect(tableBehind('plugins', page)).toEqual(others);
});

test('metrics that the page speaks of are there', () => {
  const names = new Set([...own, ...others, ...definedIn('agent/src')].map(({ name }) => name));
  const spokenOf = page.match(/\bhaptic_\w+/g)!.map((name) => name.replace(/_bucket$/, ''));
  expect(spokenOf.filter((name) => !names.has(name))).toEqual([]);
});

test('no label has as many values as there are objects, hosts, paths or plans', () => {
  const unbounded =
    /^(?:.*_)?(?:host|path|route|url|object|name|namespace|plan|digest|uid|revision|backend|server)$/;
  const labels = new Set([...own, ...others, ...definedIn('agent/src')].flatMap((metric) => metric.labels));
  expect([...labels].filter((label) => unbounded.test(label))).toEqual([]);
});
