import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { FollowedCredentials } from '@haptic/core/tls';
import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { AgentClient } from '../../plugins/deploy-agent/src/agent-client.ts';
import { CertificateAuthority } from '../cluster/certificates.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { until } from '../haproxy/until.ts';
import { ask, startTlsAgent, type TlsAgent } from './tls-agent.ts';
import { AGENT, CONTROLLER, MountedSecret, tlsContents, type TlsContents } from './tls-secret.ts';

const YESTERDAY = new Date(Date.now() - 86_400_000);
let authority: CertificateAuthority;
let stranger: CertificateAuthority;
let controller: TlsContents;

beforeAll(async () => {
  authority = await CertificateAuthority.create('fleet');
  stranger = await CertificateAuthority.create('stranger');
  controller = await tlsContents(authority, CONTROLLER);
});

async function agentOf(contents: TlsContents, token?: string): Promise<TlsAgent> {
  const { files } = await MountedSecret.create(contents);
  return await startTlsAgent({ tls: files, ...(token !== undefined && { token: { value: token } }) });
}

function reasons({ log }: TlsAgent): string[] {
  const refused = log.records.filter(({ message }) => message === 'refused a TLS connection');
  return refused.map(({ fields }) => String(fields['reason']));
}

describe('an agent', () => {
  let port: number;
  let agent: TlsAgent;
  let contents: TlsContents;

  beforeAll(async () => {
    contents = await tlsContents(authority, AGENT);
    agent = await agentOf(contents);
    port = agent.port;
  });

  test('answers a controller, and says what it shows and trusts', async () => {
    const { status, state } = await ask(port, controller);
    expect(status).toBe(200);
    const fingerprint = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
    expect(state.tls).toEqual({ leaf: fingerprint, authorities: [fingerprint] });
  });

  test('refuses a client without a certificate, and logs why', async () => {
    await expect(ask(port, { ca: controller.ca })).rejects.toThrow();
    await until(() => reasons(agent).some((reason) => /PEER_DID_NOT_RETURN_A_CERTIFICATE/.test(reason)));
  });

  test.each<[string, () => Promise<TlsContents>, RegExp]>([
    [
      'of another authority',
      () => tlsContents(stranger, CONTROLLER, { trusts: [authority] }),
      /UNABLE_TO|SELF_SIGNED/,
    ],
    [
      'that has expired',
      () => tlsContents(authority, CONTROLLER, { notAfter: YESTERDAY }),
      /CERT_HAS_EXPIRED/,
    ],
  ])('refuses a certificate %s, and logs why', async (_, client, reason) => {
    await expect(ask(port, await client())).rejects.toThrow();
    await until(() => reasons(agent).some((words) => reason.test(words)));
  });

  test.each([
    ['of an agent', AGENT],
    ['of a name that only begins like a controller’s', `${CONTROLLER}.evil`],
    ['of a wildcard', '*'],
  ])('refuses the certificate %s, and says so', async (_, name) => {
    const { status, state } = await ask(port, await tlsContents(authority, name));
    expect(status).toBe(403);
    expect(state).toEqual({ error: expect.stringContaining(`"${CONTROLLER}"`) as string });
  });

  test('refuses a common name in place of a DNS name', async () => {
    const { cert, key } = await authority.issue({ commonName: CONTROLLER });
    expect((await ask(port, { ...controller, cert, key })).status).toBe(403);
  });

  test('refuses TLS 1.2', async () => {
    await expect(ask(port, { ...controller, maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/i);
  });

  test('demands the token as well where it has one', async () => {
    const token = 'a token that is long enough';
    const strict = await agentOf(contents, token);
    expect((await ask(strict.port, controller)).status).toBe(401);
    const headers = { authorization: `Bearer ${token}` };
    expect((await ask(strict.port, { ...controller, headers })).status).toBe(200);
    await expect(ask(strict.port, { ca: controller.ca, headers })).rejects.toThrow();
  });

  test('does not start with a certificate that would let it speak as a controller, nor with neither secret', async () => {
    await expect(agentOf(controller)).rejects.toThrow('the name of the other side');
    await expect(startTlsAgent({})).rejects.toThrow('expected a token, or certificates');
  });
});

describe('a controller', () => {
  /** Answers whatever is asked of it. */
  async function serverWith({ cert, key }: TlsContents, options: TlsOptions = {}): Promise<number> {
    const server = createServer({ cert, key, ...options }, (_, response) => response.end('{}'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onCleanup(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  async function stateFrom(port: number): Promise<unknown> {
    const { files } = await MountedSecret.create(controller);
    const log = memoryLog();
    const credentials = new FollowedCredentials({ files, peerName: AGENT, log, clock: systemClock });
    const tls = { credentials, agentName: AGENT };
    const client = new AgentClient({ name: 'a', url: `https://127.0.0.1:${port}`, tls }, () => 1_000);
    try {
      return await client.state({ plan: false }, AbortSignal.timeout(30_000));
    } finally {
      await client.close();
      credentials[Symbol.dispose]();
    }
  }

  test('speaks to an agent', async () => {
    const { port } = await agentOf(await tlsContents(authority, AGENT));
    expect(await stateFrom(port)).toMatchObject({ protocol: 2 });
  });

  test.each<[string, () => Promise<TlsContents>, RegExp]>([
    [
      'with the certificate of a controller',
      async () => controller,
      /expected a certificate with the DNS name "haptic-agent"/,
    ],
    ['of another authority', () => tlsContents(stranger, AGENT), /unable to verify|self-signed/],
    [
      'whose certificate has expired',
      () => tlsContents(authority, AGENT, { notAfter: YESTERDAY }),
      /expired/,
    ],
  ])('does not speak to a server %s', async (_, server, words) => {
    await expect(stateFrom(await serverWith(await server()))).rejects.toThrow(words);
  });

  test('says where to look when an agent does not want it', async () => {
    const { port } = await agentOf(await tlsContents(authority, AGENT, { trusts: [stranger] }));
    await expect(stateFrom(port)).rejects.toThrow('its log says why');
  });

  test('does not speak TLS 1.2', async () => {
    const port = await serverWith(await tlsContents(authority, AGENT), { maxVersion: 'TLSv1.2' });
    await expect(stateFrom(port)).rejects.toThrow(/protocol|version/i);
  });
});
