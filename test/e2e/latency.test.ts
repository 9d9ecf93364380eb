import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { origin } from '../haproxy/origin.ts';
import { traffic } from '../haproxy/traffic.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { up } from './haptic-process.ts';
import { documents, endpoints, ingress, service } from './objects.ts';
import { answer, HOST, renameIntoPlace, site } from './site.ts';

const EDITS = process.env['HAPTIC_SOAK'] === '1' ? 500 : 50;

/** What is promised of a machine with nothing else to do. */
const PROMISED_P50_MS = 300;
/** How much slower than that this machine may be before it is a failure. */
const ALLOWANCE = 3;

/** Milliseconds until the path is answered by the origin. */
async function timeUntil(port: number, path: string, expected: string): Promise<number> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < 20_000) {
    if ((await answer(port, HOST, path)) === expected) return performance.now() - startedAt;
    await sleep(2);
  }
  throw new Error(`${path} is not answered by ${expected}`);
}

forEachVersion(
  ({ binary }) => {
    test('an edit is on the wire soon, and costs no request', { timeout: 120_000 }, async () => {
      const { dir, write } = await site();
      const other = await origin('other');
      await write('other.yaml', documents(service('other'), endpoints('other', other.port)));
      const run = await up({ haproxy: binary, resources: [dir] });
      const load = traffic({ port: run.port, host: HOST, clients: 2, pauseMs: 10 });
      const times: number[] = [];
      for (let edit = 0; edit < EDITS; edit += 1) {
        const text = ingress('app', HOST, { '/': 'app', [`/edit-${edit}`]: 'other' });
        // Editors save in both ways.
        await (edit % 2 === 0 ? write('app.yaml', text) : renameIntoPlace(dir, 'app.yaml', text));
        times.push(await timeUntil(run.port, `/edit-${edit}`, 'other'));
      }
      const { requests, failures } = await load.stop();
      times.sort((a, b) => a - b);
      const at = (share: number): number => Math.round(times[Math.ceil(times.length * share) - 1]!);
      console.log(
        `edit to wire: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${EDITS} edits, ${requests} requests meanwhile)`,
      );
      expect(failures).toEqual([]);
      expect(at(0.5)).toBeLessThanOrEqual(PROMISED_P50_MS * ALLOWANCE);
    });
  },
  ['3.4'],
);
