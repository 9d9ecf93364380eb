import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { runAgent, runHaproxy, type AgentHooks } from '@haptic/agent';
import { z, type PluginDefinition } from '@haptic/core/contract';
import { jsonLog } from './json-log.ts';

/** Many agents, each with the supervisor of its HAProxy, in one process: a process for each would not fit a test machine. */
export interface CrowdMember {
  readonly name: string;
  /** HAProxy, with what is this pod's own in its environment. */
  readonly binary: string;
  readonly baseDir: string;
  readonly socketDir: string;
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string };
}

/** One finished apply; times are of the wall clock, which all processes share. */
export interface CrowdApply {
  readonly pod: string;
  readonly outcome: string;
  readonly planId: string | null;
  readonly from: number;
  readonly to: number;
}

/** Said for each line that is read. */
export interface CrowdReport {
  readonly listening: number;
  readonly applies: readonly CrowdApply[];
  /** By method and path. */
  readonly requests: Readonly<Record<string, number>>;
}

const members = JSON.parse(process.argv[2]!.slice('--members='.length)) as readonly CrowdMember[];
const applies: CrowdApply[] = [];
const requests: Record<string, number> = {};
let listening = 0;

subscribe('http.server.request.start', (message) => {
  const { method = '', url = '' } = (message as { readonly request: IncomingMessage }).request;
  const key = `${method} ${url.split('?')[0]}`;
  requests[key] = (requests[key] ?? 0) + 1;
});

const options = z.strictObject({});

function noting(pod: string): PluginDefinition<typeof options, AgentHooks> {
  return {
    name: 'noting',
    apiVersion: 1,
    options,
    setup({ name, hooks }) {
      hooks.applied.tap(name, ({ outcome, planId, durationMs }) => {
        const to = performance.timeOrigin + performance.now();
        applies.push({ pod, outcome, planId, from: to - durationMs, to });
      });
    },
  };
}

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
createInterface({ input: process.stdin }).on('line', () => {
  process.stdout.write(`${JSON.stringify({ listening, applies, requests } satisfies CrowdReport)}\n`);
});

await Promise.all(
  members.map(async ({ name, binary, baseDir, socketDir, host, port, tls }) => {
    const shared = { baseDir, socketDir, signal: stop.signal, log: jsonLog({ pod: name }) };
    await Promise.all([
      runHaproxy({ ...shared, binary, drain: 0 }),
      runAgent({
        ...shared,
        version: '0.0.0-test',
        listen: { host, port },
        tls,
        onListening: () => (listening += 1),
        plugins: [{ plugin: noting(name), options: {} }],
      }),
    ]);
  }),
);
process.exit(0);
