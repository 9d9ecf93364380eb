import { once } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent } from 'node:https';
import { describe, expect, test } from 'vitest';
import { CertificateAuthority } from '../../cluster/certificates.ts';
import { tempDir } from '../../haproxy/temp-dir.ts';
import { until } from '../../haproxy/until.ts';
import { agentOf, post, servedSerial, startAsked, type Asked } from './asked.ts';
import { WebhookPlace } from './webhook.ts';

/** Two looks at the files: what is new has to be the same twice. */
async function look({ clock }: Asked): Promise<void> {
  await clock.advance(1_000);
  await clock.advance(1_000);
}

describe('the port of the webhook', () => {
  test('shows another certificate as soon as its files have one', async () => {
    const place = await WebhookPlace.open(await tempDir());
    const asked = await startAsked(place.tls, place.port);
    const former = await servedSerial(place);
    expect(await servedSerial(place)).toBe(former);
    await place.certify();
    await look(asked);
    expect(await servedSerial(place)).not.toBe(former);
    expect((await post(place.port, agentOf({ ca: place.ca }))).status).toBe(200);
  });

  test('answers nobody without a certificate of its authorities, of those that its file names now', async () => {
    const dir = await tempDir();
    const place = await WebhookPlace.open(dir);
    const [first, second] = [
      await CertificateAuthority.create('first'),
      await CertificateAuthority.create('second'),
    ];
    const clientCa = join(dir, 'clients.crt');
    const trust = async (authority: CertificateAuthority): Promise<void> => {
      await writeFile(`${clientCa}.new`, authority.pair.cert);
      await rename(`${clientCa}.new`, clientCa);
    };
    await trust(first);
    const asked = await startAsked({ ...place.tls, ca: clientCa }, place.port);
    const clientOf = async (authority: CertificateAuthority): Promise<Agent> =>
      agentOf({ ca: place.ca, ...(await authority.issue({ commonName: 'api-server' })) });
    const [one, other] = [await clientOf(first), await clientOf(second)];

    await expect(post(place.port, agentOf({ ca: place.ca }))).rejects.toThrow();
    await expect(post(place.port, other)).rejects.toThrow();
    expect(asked.count()).toBe(0);
    expect((await post(place.port, one)).status).toBe(200);

    await trust(second);
    await look(asked);
    expect((await post(place.port, other)).status).toBe(200);
    // Nor on the connection that it had kept.
    await expect(post(place.port, one)).rejects.toThrow();
    expect(asked.count()).toBe(2);
  });

  test('neither answers nor logs what is secret', async () => {
    const place = await WebhookPlace.open(await tempDir());
    const pem = '-----BEGIN PRIVATE KEY-----\nMIIEsecret\n-----END PRIVATE KEY-----';
    const asked = await startAsked(place.tls, place.port, () =>
      Promise.resolve({ allowed: false, code: 403, message: `refused: ${pem}`, warnings: [pem] }),
    );
    const { body } = await post(place.port, agentOf({ ca: place.ca }));
    expect(body).toContain('refused: [redacted PEM]');
    expect(body + JSON.stringify(asked.log.records)).not.toContain('MIIEsecret');
    expect(JSON.stringify(asked.log.records)).toContain('refused: [redacted PEM]');
  });

  test('answers before the API server gives up that says how long it waits', async () => {
    const place = await WebhookPlace.open(await tempDir());
    await startAsked(place.tls, place.port, async (_request, signal) => {
      await once(signal, 'abort');
      return { allowed: false, code: 503, message: 'in time' };
    });
    const begun = performance.now();
    const { body } = await post(place.port, agentOf({ ca: place.ca }), undefined, '?timeout=2s');
    expect(body).toContain('in time');
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  test('takes no more at once than it can hold', async () => {
    const place = await WebhookPlace.open(await tempDir());
    const judging = Promise.withResolvers<{ readonly allowed: true }>();
    let judged = 0;
    await startAsked(place.tls, place.port, () => {
      judged += 1;
      return judging.promise;
    });
    const agent = agentOf({ ca: place.ca });
    expect((await post(place.port, agent, 8 * 1024 * 1024 + 1)).status).toBe(413);
    const held = Array.from({ length: 256 }, () => post(place.port, agent));
    await until(() => judged === 256, { deadlineMs: 60_000 });
    expect((await post(place.port, agent)).status).toBe(503);
    judging.resolve({ allowed: true });
    for (const { status } of await Promise.all(held)) expect(status).toBe(200);
    expect((await post(place.port, agent)).status).toBe(200);
    expect(judged).toBe(257);
  });
});
