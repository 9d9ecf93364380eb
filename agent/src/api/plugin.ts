import { z } from 'zod';
import { API_VERSION, type PluginDefinition } from '@haptic/core/contract';
import { AGENT, type AgentHooks } from '../hooks.ts';
import { checkAddress, listen, type ListenAddress } from './listen.ts';
import { createApi } from './server.ts';
import { readToken } from './token.ts';

const options = z.strictObject({
  listen: z.union([
    z.strictObject({ socketPath: z.string().min(1) }),
    z.strictObject({ host: z.string().min(1), port: z.int().min(0).max(65_535) }),
  ]),
  token: z.union([z.strictObject({ file: z.string().min(1) }), z.strictObject({ value: z.string() })]),
  /** Called once it listens, with the port that was chosen for port 0. */
  onListening: z.custom<(address: ListenAddress) => void>((value) => typeof value === 'function').optional(),
});

/** Serves the protocol over a unix socket or a loopback address, with a bearer token. */
const api: PluginDefinition<typeof options, AgentHooks> = {
  name: 'api',
  apiVersion: API_VERSION,
  options,
  async setup(context, { listen: address, token, onListening }) {
    const { log, signal } = context;
    checkAddress(address);
    readToken(token);
    const server = createApi({ agent: context.use(AGENT), token, log, signal });
    context.onDispose(() => server.close());
    const bound = await listen(server, address);
    onListening?.(bound);
  },
};
export default api;
