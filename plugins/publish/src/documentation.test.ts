import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { options } from './options.ts';
import { publishSettings } from './settings.ts';

interface Block {
  readonly publish?: unknown;
  readonly plugins?: readonly { readonly use: string; readonly options?: unknown }[];
}

const page = readFileSync(new URL('../../../docs/kubernetes.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => parse(text!) as Block);

test('the page shows settings that are taken, the defaults', () => {
  const [settings] = blocks.flatMap(({ publish }) => publish ?? []);
  expect(publishSettings.parse(settings)).toEqual(publishSettings.parse(undefined));
});

test('the page shows options that are taken', () => {
  const plugins = blocks.flatMap(({ plugins: list = [] }) => list);
  const shown = plugins.filter(({ use }) => use === '@haptic/publish');
  expect(shown.map((plugin) => options.parse(plugin.options))).toEqual([
    { service: { namespace: 'haptic', name: 'haproxy' } },
    { addresses: [{ ip: '192.0.2.1' }, { hostname: 'lb.example.com' }] },
  ]);
});

test.each([
  [{ service: 'haproxy' }, 'expected a Service as'],
  [{ addresses: [{ ip: 'lb.example.com' }] }, 'expected an IP address'],
  [{ service: 'a/b', addresses: [{ ip: '::1' }] }, 'either addresses or service, not both'],
])('%j is refused', (given, words) => {
  expect(() => options.parse(given)).toThrow(words);
});

test('an interval shorter than a second is refused', () => {
  expect(() => publishSettings.parse({ interval: '500ms' })).toThrow('at least');
});
