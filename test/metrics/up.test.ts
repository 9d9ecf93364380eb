import { expect, test } from 'vitest';
import { scrapeProblems } from '@haptic/prometheus/testing';
import { startUp } from '../e2e/haptic-process.ts';
import { documents, ingress } from '../e2e/objects.ts';
import { answer, site } from '../e2e/site.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';

const soon = { deadlineMs: 60_000 };

/** So many Ingresses with a hundred paths each. */
function routes(ingresses: number): string {
  const paths = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`/path-${index}`, 'app']));
  return documents(
    ...Array.from({ length: ingresses }, (_, index) =>
      ingress(`many-${index}`, `many-${index}.example`, paths),
    ),
  );
}

interface Scraped {
  readonly text: string;
  readonly series: ReadonlyMap<string, number>;
}

async function scrape(port: number): Promise<Scraped> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const series = lines.map((line): [string, number] => {
    const end = line.lastIndexOf(' ');
    return [line.slice(0, end), Number(line.slice(end))];
  });
  return { text, series: new Map(series) };
}

forEachVersion(
  ({ binary }) => {
    test('what a controller did can be scraped, and 5,000 routes have no series of their own', async () => {
      const { dir, write } = await site();
      await write('many.yaml', routes(50));
      const run = await startUp({ haproxy: binary, resources: [dir], args: ['--log-level=info'] });
      await until(() => run.events().some(({ event }) => event === 'serving'), { deadlineMs: 150_000 });
      const port = Number(run.log().find(({ msg }) => msg === 'answers Prometheus')?.['port']);
      const first = await scrape(port);
      await write('more.yaml', ingress('more', 'more.example', { '/': 'app' }));
      await until(async () => (await answer(run.port, 'more.example')) === 'app', soon);
      await until(async () => (await scrape(port)).series.get('haptic_fleet_converged') === 1, soon);
      // What is counted is what HAProxy has accepted, and it answers after the pods have it.
      const watched = 'haptic_resources{watch="ingresses"}';
      await until(async () => (await scrape(port)).series.get(watched) === 52, soon);

      const { text, series } = await scrape(port);
      expect(scrapeProblems(text)).toEqual([]);
      expect(Object.fromEntries(series)).toMatchObject({
        'haptic_resources{watch="ingresses"}': 52,
        haptic_fleet_size: 1,
        haptic_gate_latched: 0,
        haptic_leader_is_leader: 1,
        haptic_config_held: 0,
        'haptic_config_validated{reason="ValidationSucceeded"}': 1,
        haptic_reconciliation_errors_total: 0,
        'haptic_apply_rejected_total{pod="local"}': 0,
      });
      const atLeastOnce = [
        'haptic_reconciliation_total',
        'haptic_reconciliation_duration_seconds_count',
        'haptic_render_total{caller="load-gate"}',
        'haptic_render_total{caller="reconcile"}',
        'haptic_render_duration_seconds_count',
        'haptic_validation_duration_seconds_count{judge="validator-haproxy"}',
        'haptic_deploy_apply_total{pod="local",mode="reload"}',
        'haptic_haproxy_reloads_total',
        'haptic_propagation_seconds_count',
        'haptic_profiles',
        'haptic_plugin_hook_duration_seconds_count{plugin="deploy-agent",hook="deploy"}',
        'haptic_plugin_hook_duration_seconds_count{plugin="core",hook="render"}',
      ];
      for (const name of atLeastOnce) expect(series.get(name), name).toBeGreaterThanOrEqual(1);

      // The goal is 5,000; more objects change nothing about it, only hooks and modes that had not been there do.
      expect(series.size).toBeLessThan(2_000);
      expect(text).not.toMatch(/example|many|default\/|path-/);
      expect(series.size - first.series.size).toBeLessThan(200);
    }, 240_000);
  },
  ['3.4'],
);
