import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { noProcesses } from '../haproxy/processes.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { endless } from './config.ts';
import { ingress, startController } from './start-controller.ts';

/** An Ingress with this port brings the list that HAProxy never comes to the end of. */
const ENDLESS = 2;
const LIST = `{% for ingress in resources.ingresses.list() %}
{% if ingress.spec.servers[0].port === ${ENDLESS} %}
{% section "tls", ingress %}
frontend tls from base
    bind 127.0.0.1:65001 ssl crt-list {{ path("file", "sites") }}
{% endsection %}
{% endif %}
{% endfor %}
`;

const TIMEOUT_MS = 5_000;

const LONG = { deadlineMs: 60_000 };

forEachVersion(
  ({ binary }) => {
    test(
      'a check of what is out that never ends is killed, and takes nothing back',
      { timeout: 240_000 },
      async () => {
        // Its processes are found by this name.
        const own = join(await tempDir(), 'haproxy');
        await symlink(binary, own);
        const { controller, fleet, log, quarantined, put } = await startController({
          judge: { binary: own, timeout: TIMEOUT_MS },
          objects: [ingress('one')],
          more: LIST,
          files: { sites: endless['crt-lists/loop.txt']! },
        });
        await until(() => controller.status().gate?.state === 'open', LONG);
        const accepted = controller.status().plan!;

        put(ingress('two', { port: ENDLESS }));
        await until(() => controller.status().gate?.state === 'latched', LONG);
        const out = controller.status().dispatched!;
        expect(out).not.toBe(accepted.id);
        expect(controller.status()).toMatchObject({
          plan: { id: accepted.id },
          gate: { reason: 'no-verdict', pending: [out] },
          problem: { message: expect.stringContaining(`still running after ${TIMEOUT_MS} ms`) },
        });
        expect(fleet.pods).toMatchObject([{ applied: out }]);

        // Everything that is new waits as long as there is no answer.
        put(ingress('three'));
        const waits = 'a render could not be judged, it is tried again';
        await until(() => log.records.some(({ message }) => message === waits), LONG);
        expect(fleet.pods).toMatchObject([{ applied: out }]);

        put(ingress('two'));
        await until(() => controller.status().gate?.state === 'open', LONG);
        const { plan, dispatched, gate } = controller.status();
        expect(Object.keys(plan!.backends)).toEqual(expect.arrayContaining(['one', 'two', 'three']));
        expect(dispatched).toBe(plan!.id);
        expect(gate?.pending).toEqual([]);
        await until(() => fleet.pods[0]!.applied === plan!.id, LONG);
        expect(controller.status().problem).toBeUndefined();

        // Nobody was blamed, nothing was taken back, and nothing runs on.
        expect(quarantined).toEqual([]);
        expect(fleet.reverts).toEqual([]);
        await noProcesses(own);
      },
    );
  },
  ['3.4'],
);
