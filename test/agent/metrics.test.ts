import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ApplyMessage } from '@haptic/agent/protocol';
import { familiesOf, scrapeProblems } from '@haptic/prometheus/testing';
import { CertificateAuthority } from '../cluster/certificates.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { applyOf, planIdOf, type Files } from './plan.ts';
import { Pod } from './pod.ts';
import { send, startTlsAgent } from './tls-agent.ts';
import { AGENT, CONTROLLER, MountedSecret, tlsContents } from './tls-secret.ts';

interface Scraped {
  readonly text: string;
  /** Of a line; undefined when there is none. */
  readonly value: (series: string) => number | undefined;
}

async function scrape(port: number): Promise<Scraped> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/plain');
  const text = await response.text();
  const lines = new Map(text.split('\n').map((line) => line.split(/ (?=\S+$)/) as [string, string]));
  return {
    text,
    value: (series) => (lines.has(series) ? Number(lines.get(series)) : undefined),
  };
}

forEachVersion(
  ({ binary }) => {
    test('what an agent did can be scraped', async () => {
      const pod = await Pod.create(binary);
      await pod.startHaproxy();
      const authority = await CertificateAuthority.create('fleet');
      const controller = await tlsContents(authority, CONTROLLER);
      const secret = await MountedSecret.create(await tlsContents(authority, AGENT));
      const { promise: metricsPort, resolve } = Promise.withResolvers<number>();
      const agent = await startTlsAgent({
        tls: secret.files,
        baseDir: pod.baseDir,
        socketDir: pod.socketDir,
        health: {
          host: '127.0.0.1',
          port: 0,
          onListening: (address) => resolve('port' in address ? address.port : 0),
        },
      });
      const port = await metricsPort;
      const probes = async (): Promise<number[]> => {
        const answers = ['healthz', 'readyz'].map((path) => fetch(`http://127.0.0.1:${port}/${path}`));
        return (await Promise.all(answers)).map(({ status }) => status);
      };
      expect(await probes()).toEqual([200, 200]);

      let seq = 0;
      const apply = (files: Files, change: Partial<ApplyMessage>) => {
        seq += 1;
        return send(agent.port, controller, applyOf(files, { token: { epoch: 1, seq }, ...change }));
      };
      const [one, bad] = [pod.site('one'), pod.site('bad', { extra: 'bogus' })];
      const expected = planIdOf(one);
      await apply(one, { mode: 'reload' });
      const before = await scrape(port);
      expect(before.value('haptic_agent_applies_total{mode="reload",outcome="reload"}')).toBe(1);
      expect(before.value('haptic_agent_rejections_total{stage="reload"}')).toBe(0);

      await apply(bad, { mode: 'reload', expect: expected });
      await apply(bad, { mode: 'reload', expect: expected });
      // What is refused takes no pod out.
      expect(await probes()).toEqual([200, 200]);
      await apply(one, { expect: 'something else' });
      const ops = [{ op: 'map.set', map: 'maps/none.map', key: 'key', value: 'two' }];
      await apply(pod.site('one', { map: 'two' }), { mode: 'auto', expect: expected, ops });
      const unknown = [{ op: 'dance' }];
      const last = pod.site('one', { map: 'three' });
      const { body } = await apply(last, {
        expect: planIdOf(pod.site('one', { map: 'two' })),
        ops: unknown,
        mode: 'auto',
      });
      expect(body).toMatchObject({ outcome: 'reload', skew: ['op dance'] });
      await secret.put({ cert: 'nonsense', key: 'nonsense', ca: '' });
      await expect
        .poll(async () => (await scrape(port)).value('haptic_agent_tls_reload_failures_total'), {
          timeout: 20_000,
        })
        .toBe(1);
      await expect(send(agent.port, { ca: controller.ca }, applyOf(one))).rejects.toThrow();

      const { text, value } = await scrape(port);
      expect({
        refused: value('haptic_agent_reloads_total{result="refused"}'),
        rejected: value('haptic_agent_rejections_total{stage="reload"}'),
        rolledBack: value('haptic_agent_rollbacks_total'),
        knownBad: value('haptic_agent_known_bad_hits_total'),
        conflicts: value('haptic_agent_conflicts_total{reason="prev_mismatch"}'),
        operationErrors: value('haptic_agent_operation_errors_total{op="map",result="refused"}'),
        fellBack: value('haptic_agent_fall_backs_total'),
        skew: value('haptic_agent_skew_total{kind="op"}'),
        pending: value('haptic_agent_deferred_deletes_pending'),
        unexpected: value('haptic_agent_invariant_violations_total'),
        generation: value('haptic_agent_generation'),
        measured: value('haptic_agent_apply_duration_seconds_count{outcome="reload"}'),
      }).toEqual({
        refused: 1,
        rejected: 2,
        rolledBack: 1,
        knownBad: 1,
        conflicts: 1,
        operationErrors: 1,
        fellBack: 1,
        skew: 1,
        pending: 0,
        unexpected: 0,
        generation: 3,
        measured: 3,
      });
      expect(value('haptic_agent_tls_certificate_expiry_timestamp_seconds')).toBeGreaterThan(
        Date.now() / 1_000,
      );
      expect(scrapeProblems(text)).toEqual([]);
      const series = familiesOf(text);
      const golden = series.map(({ name, type, help }) => `${name} (${type}): ${help}\n`).toSorted();
      // `npx vitest run test/agent/metrics.test.ts -u` writes it anew.
      await expect(golden.join('')).toMatchFileSnapshot(
        join(import.meta.dirname, '../data/agent-metrics.txt'),
      );
      expect(text).not.toContain(expected);
      const page = await readFile(join(import.meta.dirname, '../../docs/agent.md'), 'utf8');
      const documented = new Set(page.match(/\bhaptic_(?:agent|plugin)_\w+/g));
      expect(documented).toEqual(new Set([...series.map(({ name }) => name), 'haptic_plugin_errors_total']));
    });
  },
  ['3.4'],
);
