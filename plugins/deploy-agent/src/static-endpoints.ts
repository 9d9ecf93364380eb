import type { PluginContext } from '@haptic/core/contract';
import { FollowedCredentials } from '@haptic/core/tls';
import type { AgentEndpoint } from './agent-client.ts';
import type { AgentTls } from './agent-connections.ts';
import { isSecure, type StaticOptions } from './options.ts';

/** The agents that the options name; those at https:// share what is shown to them, and follow its files together. */
export function staticEndpoints(options: StaticOptions, context: PluginContext): AgentEndpoint[] {
  const tls = options.tls && agentTls(options.tls, context);
  return options.pods.map((pod) => (isSecure(pod) ? { ...pod, tls } : pod));
}

/** @throws Refused when the files cannot be used. */
function agentTls(
  { agentName, ...files }: NonNullable<StaticOptions['tls']>,
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
