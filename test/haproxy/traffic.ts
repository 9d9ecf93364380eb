import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { onCleanup } from './cleanup.ts';

export interface TrafficOptions {
  readonly port: number;
  readonly host?: string;
  readonly path?: string;
  /** Clients at once, each with one request in flight. */
  readonly clients?: number;
  /** Re-use connections; otherwise each request opens one. */
  readonly keepAlive?: boolean;
  /** Posted with each request. */
  readonly body?: string;
  /** Between a client's requests. */
  readonly pauseMs?: number;
  /** Statuses that are no failure; only 200 by default. */
  readonly accept?: readonly number[];
}

export interface TrafficReport {
  readonly requests: number;
  /** One line for each failed request, with the time of its end, the first 100 of them. */
  readonly failures: readonly string[];
  readonly failed: number;
  /** Milliseconds from the first failure to the last. */
  readonly outageMs: number;
}

export interface Traffic {
  report(): TrafficReport;
  /** Lets the requests in flight finish. Called by itself at the end of the test. */
  stop(): Promise<TrafficReport>;
}

/** Sends requests without a break and counts those that fail. Stops by itself after two minutes. */
export function traffic(options: TrafficOptions): Traffic {
  const { clients = 4, keepAlive = false, pauseMs = 1 } = options;
  const agent = new Agent({ keepAlive, maxSockets: clients });
  const failures: string[] = [];
  const count = { requests: 0, failed: 0, outageMs: 0 };
  let firstFailure: number | undefined;
  const stopped = new AbortController();
  const ending = AbortSignal.any([stopped.signal, AbortSignal.timeout(120_000)]);
  const client = async (): Promise<void> => {
    while (!ending.aborted) {
      const failure = await oneRequest(agent, options);
      count.requests += 1;
      if (failure !== undefined) {
        count.failed += 1;
        firstFailure ??= performance.now();
        count.outageMs = performance.now() - firstFailure;
        if (failures.length < 100) failures.push(`${new Date().toISOString().slice(11)} ${failure}`);
      }
      await sleep(pauseMs);
    }
  };
  const running = Promise.all(Array.from({ length: clients }, client));
  const report = (): TrafficReport => ({ ...count, failures: [...failures] });
  const stop = async (): Promise<TrafficReport> => {
    stopped.abort();
    await running;
    agent.destroy();
    return report();
  };
  onCleanup(async () => void (await stop()));
  return { report, stop };
}

/** Undefined when all went well. */
function oneRequest(agent: Agent, options: TrafficOptions): Promise<string | undefined> {
  const { port, host = 'localhost', path = '/', accept = [200], body } = options;
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve) => {
    const outgoing = request(
      { agent, method, port, path, host: '127.0.0.1', headers: { host }, timeout: 10_000 },
      (response) => {
        response.on('error', (error) => resolve(error.message));
        response.on('end', () => {
          const { statusCode = 0 } = response;
          resolve(accept.includes(statusCode) ? undefined : `status ${statusCode}`);
        });
        response.resume();
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('timed out')));
    outgoing.on('error', (error) => resolve(error.message));
    outgoing.end(body);
  });
}
