import { expect, test } from 'vitest';
import { fakeClock } from '@haptic/core/testing';
import { PrometheusMeter } from './prometheus-meter.ts';
import { familiesOf, scrapeProblems } from './testing/index.ts';

const applies = { name: 'haptic_x_total', help: 'X.', labels: ['pod', 'mode'] };
const seconds = { name: 'haptic_x_seconds', help: 'Y.' };
const size = { name: 'haptic_x_bytes', help: 'Z.' };

test('counts, gauges and observations are what a scrape gives', async () => {
  const clock = fakeClock();
  const meter = new PrometheusMeter(clock);
  meter.count(applies, { pod: 'a', mode: 'reload' });
  meter.count(applies, { mode: 'reload', pod: 'a' }, 2);
  meter.count(applies, { pod: 'a', mode: 'noop' }, 0);
  meter.gauge(size, 7);
  meter.gauge(size, 8);
  const stop = meter.time(seconds);
  await clock.advance(30);
  stop();
  const scrape = await meter.scrape();
  expect(scrape.split('\n')).toEqual(
    expect.arrayContaining([
      '# HELP haptic_x_total X.',
      '# TYPE haptic_x_total counter',
      'haptic_x_total{pod="a",mode="reload"} 3',
      'haptic_x_total{pod="a",mode="noop"} 0',
      'haptic_x_bytes 8',
      'haptic_x_seconds_bucket{le="0.025"} 0',
      'haptic_x_seconds_bucket{le="0.05"} 1',
      'haptic_x_seconds_sum 0.03',
    ]),
  );
  expect(scrapeProblems(scrape)).toEqual([]);
});

test('series go with the labels that they share, and come again from nothing', async () => {
  const meter = new PrometheusMeter(fakeClock());
  for (const pod of ['a', 'b']) for (const mode of ['x', 'y']) meter.count(applies, { pod, mode });
  meter.remove(applies, { pod: 'a' });
  expect(await meter.scrape()).not.toContain('pod="a"');
  expect(await meter.scrape()).toContain('haptic_x_total{pod="b",mode="y"} 1');
  meter.count(applies, { pod: 'a', mode: 'x' });
  expect(await meter.scrape()).toContain('haptic_x_total{pod="a",mode="x"} 1');
  meter.remove({ name: 'haptic_unknown', help: '' }, {});
  meter.gauge(size, 1);
  meter.remove(size, {});
  expect(await meter.scrape()).not.toContain(`${size.name} 1`);
});

test('labels are those that are declared, and a name is measured in one way', () => {
  const meter = new PrometheusMeter(fakeClock());
  expect(() => meter.count(applies, { pod: 'a' })).toThrow('has the labels [mode,pod], got [pod]');
  meter.count(applies, { pod: 'a', mode: 'x' });
  expect(() => meter.gauge(applies, 1, { pod: 'a', mode: 'x' })).toThrow('measured in two ways');
});

test('two meters have nothing in common', async () => {
  const [one, two] = [new PrometheusMeter(fakeClock()), new PrometheusMeter(fakeClock())];
  one.gauge(size, 1);
  expect(await two.scrape()).not.toContain(size.name);
});

test.each([
  ['# HELP haptic_x X.\n# TYPE haptic_x counter\nhaptic_x 1', 'does not end in _total'],
  ['# HELP haptic_x_total X.\n# TYPE haptic_x_total gauge\nhaptic_x_total 1', 'is no counter'],
  ['# TYPE haptic_x gauge\nhaptic_x 1', 'has no help text'],
  ['haptic_x 1', 'has no type'],
  ['# HELP haptic_x_ms X.\n# TYPE haptic_x_ms gauge\nhaptic_x_ms 1', 'base unit'],
  ['# HELP hapticX X.\n# TYPE hapticX gauge\nhapticX 1', 'snake case'],
  ['# HELP haptic_x X.\n# TYPE haptic_x gauge\nhaptic_x{podName="a"} 1', 'a label that is not in snake case'],
  ['# HELP haptic_x_gauge X.\n# TYPE haptic_x_gauge gauge\nhaptic_x_gauge 1', 'its type in its name'],
  ['# HELP haptic_x_count X.\n# TYPE haptic_x_count gauge\nhaptic_x_count 1', 'part of a histogram'],
  ['', 'is empty'],
])('%j is complained of', (scrape, words) => {
  expect(scrapeProblems(scrape).join('\n')).toContain(words);
});

test('reads labels of any content', () => {
  const [family] = familiesOf('# TYPE a gauge\na{x="1}, y=\\"z",w=""} 1');
  expect(family?.samples).toEqual([{ name: 'a', labels: ['x', 'w'] }]);
});
