import type { EnabledPlugin } from '@haptic/core/host';
import type { AgentOptions } from './agent-options.ts';
import api from './api/plugin.ts';
import health from './api/health-plugin.ts';
import metrics from './metrics/plugin.ts';
import type { ListenAddress } from './api/listen.ts';
import type { ServerTls } from './api/tls-options.ts';
import type { TokenSource } from './api/token.ts';
import type { AgentHooks } from './hooks.ts';
import { startAgent } from './start-agent.ts';

export interface RunAgentOptions extends Omit<AgentOptions, 'plugins'> {
  readonly listen: ListenAddress;
  /** What callers must show; may be left out with TLS. */
  readonly token?: TokenSource;
  /** For addresses that others can reach. */
  readonly tls?: ServerTls;
  /** Plain HTTP for probes and metrics; none without it, and then nothing is measured either. */
  readonly health?: {
    readonly host: string;
    readonly port: number;
    readonly onListening?: (address: ListenAddress) => void;
  };
  /** Operators' own, after the built-in ones. */
  readonly plugins?: readonly EnabledPlugin<AgentHooks>[];
  readonly signal: AbortSignal;
  readonly onListening?: (address: ListenAddress) => void;
}

/** Runs the agent until the signal aborts. */
export async function runAgent(options: RunAgentOptions): Promise<void> {
  const { listen, token, tls, health: probes, plugins = [], signal, onListening, ...rest } = options;
  const builtIn: EnabledPlugin<AgentHooks>[] = [
    // First, so that it misses nothing.
    ...(probes === undefined ? [] : [{ plugin: metrics, options: { version: rest.version } }]),
    { plugin: api, options: { listen, token, tls, onListening } },
    ...(probes === undefined ? [] : [{ plugin: health, options: probes }]),
  ];
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => stop(), { once: true });
  await using _agent = await startAgent({ ...rest, plugins: [...builtIn, ...plugins] });
  rest.log.info({ baseDir: rest.baseDir }, 'the agent runs');
  if (!signal.aborted) await stopped;
}
