import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { request } from '../haproxy/raw-request.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { applyOf } from './plan.ts';
import { Pod } from './pod.ts';
import { startProgram } from './program.ts';

const rounds = process.env['HAPTIC_SOAK'] === '1' ? 20 : 1;

forEachVersion(({ binary }) => {
  test(
    'an apply that meets a HAProxy which is just starting is loaded',
    { repeats: rounds - 1 },
    async () => {
      const pod = await Pod.create(binary);
      await pod.startAgent();
      startProgram('haproxy', { haproxy: binary, 'base-dir': pod.baseDir, 'socket-dir': pod.socketDir });
      // The master listens a few milliseconds before its worker can be reloaded.
      await until(() => existsSync(pod.masterSocket));
      const startedAt = performance.now();
      const { status, body } = await pod.apply(applyOf(pod.site('early')));
      expect([status, body.outcome, body.message]).toEqual([200, 'reload', undefined]);
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      expect((await request(pod.port)).body.toString()).toBe('early one');
    },
  );
});
