import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askState } from '@haptic/agent';
import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { FollowedCredentials } from '@haptic/core/tls';
import { AgentClient } from '../../plugins/deploy-agent/src/agent-client.ts';
import { CertificateAuthority } from '../cluster/certificates.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { TOKEN } from './pod.ts';
import { startTlsAgent } from './tls-agent.ts';
import { AGENT, CONTROLLER, MountedSecret, tlsContents } from './tls-secret.ts';

const signal = AbortSignal.timeout(60_000);

async function tokenFile(): Promise<string> {
  const file = join(await tempDir(), 'token');
  await writeFile(file, TOKEN);
  return file;
}

test('plain HTTP to an agent with certificates is told what is expected, and where', async () => {
  const authority = await CertificateAuthority.create('fleet');
  const { files } = await MountedSecret.create(await tlsContents(authority, AGENT));
  const { port } = await startTlsAgent({ tls: files, token: { value: TOKEN } });
  const asked = askState({ host: '127.0.0.1', port }, { token: TOKEN });
  await expect(asked).rejects.toThrow(
    `127.0.0.1:${port} ended the connection without an answer to plain HTTP: an agent with certificates expects https there, give --tls-cert`,
  );
  const url = `http://127.0.0.1:${port}`;
  const client = new AgentClient({ name: 'pod', url, tokenFile: await tokenFile() }, () => 10_000);
  onCleanup(() => client.close());
  await expect(client.state({ plan: false }, signal)).rejects.toThrow(
    `${url} ended the connection without an answer to plain HTTP: an agent with certificates expects https there, write https://`,
  );
});

test('TLS to an agent without certificates is told what is expected, and where', async () => {
  const authority = await CertificateAuthority.create('fleet');
  const { files } = await MountedSecret.create(await tlsContents(authority, CONTROLLER));
  const { port } = await startTlsAgent({ token: { value: TOKEN } });
  const asked = askState({ host: '127.0.0.1', port }, { tls: { ...files, agentName: AGENT } });
  await expect(asked).rejects.toThrow(
    `127.0.0.1:${port} speaks no TLS: an agent without certificates expects plain HTTP there, leave out --tls-cert`,
  );
  const credentials = new FollowedCredentials({
    files,
    peerName: AGENT,
    log: memoryLog(),
    clock: systemClock,
    refused: () => {},
  });
  onCleanup(() => credentials[Symbol.dispose]());
  const url = `https://127.0.0.1:${port}`;
  const client = new AgentClient({ name: 'pod', url, tls: { credentials, agentName: AGENT } }, () => 10_000);
  onCleanup(() => client.close());
  await expect(client.state({ plan: false }, signal)).rejects.toThrow(
    `${url} speaks no TLS: the agent there`,
  );
});
