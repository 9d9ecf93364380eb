import admission from '@haptic/admission';
import { CONTROLLER, type ControllerAccess } from '@haptic/core/contract';
import { controllerRules, createHooks, Host, offer } from '@haptic/core/host';
import { fakeClock, memoryLog, pluginContract } from '@haptic/core/testing';
import { describe, expect, test } from 'vitest';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { tempDir } from '../../haproxy/temp-dir.ts';
import { CertificateAuthority } from '../../cluster/certificates.ts';
import { agentOf, post } from './asked.ts';
import { WebhookPlace } from './webhook.ts';

const controller = { status: () => ({ phase: 'idle' }) } as unknown as ControllerAccess;
const services = () => [offer(CONTROLLER, controller)];
const { tls } = await WebhookPlace.open(await tempDir());

describe('the plugin', () => {
  for (const { name, run } of pluginContract(admission, {
    options: { host: '127.0.0.1', port: 0, tls },
    services,
  })) {
    test(name, run);
  }

  test('demands the certificates that its options say', async () => {
    const dir = await tempDir();
    const place = await WebhookPlace.open(dir);
    const clients = await CertificateAuthority.create('clients');
    const clientCa = join(dir, 'clients.crt');
    await writeFile(clientCa, clients.pair.cert);
    const options = { host: '127.0.0.1', port: place.port, tls: { ...place.tls, clientCa } };
    const { observers, deadlines } = controllerRules;
    const host = await Host.start({
      observers,
      deadlines,
      hooks: createHooks(),
      clock: fakeClock(),
      log: memoryLog(),
      services: services(),
      plugins: [{ plugin: admission, options }],
    });
    onCleanup(() => host.close());
    await expect(post(place.port, agentOf({ ca: place.ca }))).rejects.toThrow();
    const client = await clients.issue({ commonName: 'api-server' });
    expect((await post(place.port, agentOf({ ca: place.ca, ...client }))).body).toContain(
      'no configuration serves yet',
    );
  });
});
