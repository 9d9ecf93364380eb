import { networkInterfaces } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import type { PluginContext } from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';
import { memoryLog, memoryMeter } from '@haptic/core/testing';
import { AgentClient } from '../../plugins/deploy-agent/src/agent-client.ts';
import { endpointsOfPods } from '../../plugins/deploy-agent/src/endpoints.ts';
import { CertificateAuthority } from '../cluster/certificates.ts';
import { startTlsAgent } from './tls-agent.ts';
import { AGENT, CONTROLLER, MountedSecret, tlsContents } from './tls-secret.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

async function endpointAt(authority: CertificateAuthority, address: string, port: number) {
  const { files } = await MountedSecret.create(await tlsContents(authority, CONTROLLER));
  const context = {
    log: memoryLog(),
    clock: systemClock,
    meter: memoryMeter(systemClock),
    onDispose: (dispose: () => void) => onTestFinished(dispose),
  } as unknown as PluginContext;
  const endpoints = endpointsOfPods({ tls: { ...files, agentName: AGENT } }, context);
  const [endpoint] = endpoints([{ uid: 'u', name: 'haproxy-0', address, stops: false }], port);
  return endpoint!;
}

test.each([
  ['198.18.0.1', 'https://198.18.0.1:5555'],
  ['fd00::7', 'https://[fd00::7]:5555'],
])('a pod at %s is spoken to at %s', async (address, url) => {
  const authority = await CertificateAuthority.create('fleet');
  expect(await endpointAt(authority, address, 5555)).toMatchObject({ id: `u ${url}`, url });
});

test.skipIf(!hasIpv6)('an agent that listens on IPv6 is reached', async () => {
  const authority = await CertificateAuthority.create('fleet');
  const { files } = await MountedSecret.create(await tlsContents(authority, AGENT));
  const { port } = await startTlsAgent({ tls: files, listen: { host: '::1', port: 0 } });
  const client = new AgentClient(await endpointAt(authority, '::1', port), () => 30_000);
  onTestFinished(() => client.close());
  expect(await client.state({ plan: false }, AbortSignal.timeout(30_000))).toMatchObject({ protocol: 2 });
});
