import { isIPv6 } from 'node:net';
import type { FoundPod, PluginContext } from '@haptic/core/contract';
import { FollowedCredentials } from '@haptic/core/tls';
import type { AgentEndpoint } from './agent-client.ts';
import type { AgentTls } from './agent-connections.ts';
import { isSecure, type DiscoverOptions, type StaticOptions, type TlsOptions } from './options.ts';

/** A pod, and where its agent listens. */
export interface PodEndpoint extends AgentEndpoint {
  /** Of this very pod at this very address; names are taken again. */
  readonly id: string;
  /** Of the Pod object, where there is one. */
  readonly uid?: string;
  /** It is being taken down. */
  readonly stops?: boolean;
}

/** The agents that the options name; those at https:// share what is shown to them, and follow its files together. */
export function staticEndpoints(options: StaticOptions, context: PluginContext): PodEndpoint[] {
  const tls = options.tls && agentTls(options.tls, context);
  return options.pods.map((pod) => ({ ...pod, id: pod.name, ...(isSecure(pod) && { tls }) }));
}

/** How the agents of pods that are found are spoken to. */
export function endpointsOfPods(
  { tls, tokenFile }: Pick<DiscoverOptions, 'tls' | 'tokenFile'>,
  context: PluginContext,
): (pods: readonly FoundPod[], port: number) => PodEndpoint[] {
  const shown = agentTls(tls, context);
  return (pods, port) =>
    pods.map(({ uid, name, address, stops }) => {
      const url = `https://${isIPv6(address) ? `[${address}]` : address}:${port}`;
      // At another address everything about it begins anew.
      return { id: `${uid} ${url}`, uid, name, url, stops, tls: shown, tokenFile };
    });
}

/** @throws Refused when the files cannot be used. */
function agentTls(
  { agentName, ...files }: TlsOptions,
  { log, clock, meter, onDispose }: PluginContext,
): AgentTls {
  const credentials = new FollowedCredentials({
    files,
    peerName: agentName,
    log,
    clock,
    refused: () => meter.count(TLS_RELOAD_FAILURES),
  });
  onDispose(() => credentials[Symbol.dispose]());
  return { credentials, agentName };
}

const TLS_RELOAD_FAILURES = {
  name: 'haptic_deploy_tls_reload_failures_total',
  help: 'Changed certificate files that could not be used; the former ones stay in use.',
};
