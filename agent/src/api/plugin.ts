import { z } from 'zod';
import { API_VERSION, type PluginContext, type PluginDefinition } from '@haptic/core/contract';
import { FollowedCredentials } from '@haptic/core/tls';
import type { AgentHooks } from '../hooks.ts';
import { AGENT } from '../services.ts';
import {
  INVARIANT_VIOLATIONS,
  TLS_EXPIRY,
  TLS_REFUSED,
  TLS_RELOAD_FAILURES,
} from '../metrics/definitions.ts';
import { checkAddress, listen, type ListenAddress } from './listen.ts';
import { createApi } from './server.ts';
import { serverTlsSchema } from './tls-options.ts';
import { checkSource, readToken } from './token.ts';

const options = z
  .strictObject({
    listen: z.union([
      z.strictObject({ socketPath: z.string().min(1) }),
      z.strictObject({ host: z.string().min(1), port: z.int().min(0).max(65_535) }),
    ]),
    token: z
      .union([z.strictObject({ file: z.string().min(1) }), z.strictObject({ value: z.string() })])
      .optional(),
    tls: serverTlsSchema.optional(),
    /** Called once it listens, with the port that was chosen for port 0. */
    onListening: z
      .custom<(address: ListenAddress) => void>((value) => typeof value === 'function')
      .optional(),
  })
  .refine(({ token, tls }) => token !== undefined || tls !== undefined, {
    error: 'expected a token, or certificates for TLS: nothing is served to just anybody',
  });
type ApiOptions = z.output<typeof options>;

/** Serves the protocol: over a unix socket or a loopback address with a bearer token, anywhere with TLS on both sides. */
const api: PluginDefinition<typeof options, AgentHooks> = {
  name: 'api',
  apiVersion: API_VERSION,
  options,
  async setup(context, { listen: address, token, tls, onListening }) {
    const { log, signal, meter } = context;
    checkAddress(address, tls !== undefined);
    if (token !== undefined) {
      checkSource(token);
      readToken(token);
    }
    const server = createApi({
      agent: context.use(AGENT),
      log,
      signal,
      token,
      tls: tls && secured(context, tls),
      failed: () => meter.count(INVARIANT_VIOLATIONS),
    });
    context.onDispose(() => server.close());
    const bound = await listen(server, address);
    onListening?.(bound);
  },
};
export default api;

/** @throws Refused when the files cannot be used. */
function secured(
  { log, clock, meter, onDispose }: PluginContext<AgentHooks>,
  { controllerName, ...files }: NonNullable<ApiOptions['tls']>,
) {
  const credentials = new FollowedCredentials({
    files,
    peerName: controllerName,
    log,
    clock,
    refused: () => meter.count(TLS_RELOAD_FAILURES),
  });
  onDispose(() => credentials[Symbol.dispose]());
  const measure = (): void => meter.gauge(TLS_EXPIRY, credentials.current.leaf.validToDate.getTime() / 1_000);
  measure();
  credentials.onChange(measure);
  return { credentials, controllerName, clock, refused: () => meter.count(TLS_REFUSED) };
}
