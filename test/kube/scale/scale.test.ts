import { execa } from 'execa';
import { describe, test } from 'vitest';
import { withOwnClusters } from '../../cluster/index.ts';
import { root } from '../../e2e/haptic-process.ts';
import { whyNoOrigins } from '../e2e/origins.ts';
import { Installation, Webhook } from './installation.ts';
import { cpuSeconds, MIB, residentMemory, tell } from './measure.ts';
import {
  expectNotFarAbove,
  measureAdmission,
  measureChanges,
  measureForeign,
  measureHandOver,
} from './steps.ts';

const soak = process.env['HAPTIC_SOAK'] === '1';
/** Goals are those of the large numbers; with the small ones it is the way that is tested. */
const size = soak
  ? { sites: 3_000, changes: 50, writes: 100, ingresses: 40_000, releases: 500, bytes: 900_000 }
  : { sites: 100, changes: 10, writes: 10, ingresses: 200, releases: 5, bytes: 900_000 };
const LONG = soak ? 3_600_000 : 300_000;

const noOrigins = await whyNoOrigins();
if (soak) await execa('npx', ['tsc', '-b', 'cli'], { cwd: root });

withOwnClusters((start) => {
  describe.skipIf(noOrigins !== undefined)(
    `${size.sites} sites${noOrigins === undefined ? '' : ` (${noOrigins})`}`,
    () => {
      test.each([
        ['without certificates', false],
        ['with one certificate each', true],
      ])('are served soon after a start, %s', { timeout: LONG }, async (_, certificates) => {
        const cluster = await start({ controllers: false });
        const installation = await Installation.open(cluster, { sites: size.sites, certificates });
        const webhook = await Webhook.prepare(installation);
        const { controller, ms } = await installation.coldStart([webhook.plugin]);
        const { peak } = await residentMemory(controller.pid);
        const { own, children } = await cpuSeconds(controller.pid);
        tell(`cold start with ${size.sites} sites`, {
          'ms to serving': ms,
          'peak RSS, MiB': peak / MIB,
          'CPU of the controller, s': own,
          'CPU of its judges, s': children,
        });
        expectNotFarAbove('seconds to serving', ms / 1_000, 8);
        expectNotFarAbove('peak RSS, MiB', peak / MIB, 400);

        await measureChanges(installation, size.changes);
        const goals = certificates ? { oneWriter: 1_000 } : { oneWriter: 300, eightWriters: 1_500 };
        await measureAdmission(installation, controller, { webhook, writes: size.writes, goals });
        const { peak: inAll } = await residentMemory(controller.pid);
        tell('after changes and admission', { 'peak RSS, MiB': inAll / MIB });
        // Nobody watches Secrets where there are no certificates.
        if (certificates) await measureForeign(installation, controller, size);
        await measureHandOver(installation, controller);
      });
    },
  );
});
