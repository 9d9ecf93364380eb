import { setTimeout as sleep } from 'node:timers/promises';
import { LoadClient } from './client.ts';
import { fastOrigin, type FastOrigin } from './fast-origin.ts';
import type { ClientGroup, Done, LoadReport, Order } from './messages.ts';

/** Clients and origins in a process of their own: what they do costs neither the test nor the agent a turn. */
const origins = new Map<number, FastOrigin>();
const failures: string[] = [];
let [requests, failed, startedAt, stoppedAt] = [0, 0, 0, 0];
const off = new AbortController();
let running: Promise<unknown> = Promise.resolve();

async function run(group: ClientGroup, offset: number): Promise<void> {
  const client = new LoadClient(group);
  let next = performance.now() + offset;
  // Ends by itself, should nobody be there to say so.
  while (!off.signal.aborted && process.connected) {
    const wait = next - performance.now();
    if (wait > 0) await sleep(wait);
    next = Math.max(next + group.everyMs, performance.now() - group.everyMs);
    const failure = await client.request();
    requests += 1;
    if (failure === undefined) continue;
    failed += 1;
    if (failures.length < 100) failures.push(`${group.tls ? 'tls ' : ''}${failure}`);
  }
  client.close();
}

function report(): LoadReport {
  const seconds = ((stoppedAt || performance.now()) - startedAt) / 1_000;
  return { requests, failed, failures, perSecond: Math.round(requests / seconds) };
}

async function obey(order: Order): Promise<Done> {
  switch (order.order) {
    case 'open-origin': {
      const origin = await fastOrigin(order.delayMs);
      origins.set(origin.port, origin);
      return { port: origin.port };
    }
    case 'close-origin':
      origins.get(order.port)?.close();
      origins.delete(order.port);
      return {};
    case 'start':
      startedAt = performance.now();
      running = Promise.all(
        order.groups.flatMap((group) =>
          Array.from({ length: group.clients }, (_, index) =>
            run(group, (index * group.everyMs) / group.clients),
          ),
        ),
      );
      return {};
    case 'report':
      return { report: report() };
    case 'stop':
      off.abort();
      await running;
      stoppedAt = performance.now();
      return { report: report() };
  }
}

async function answer(order: Order): Promise<void> {
  process.send?.(await obey(order));
}

process.on('message', (order: Order) => void answer(order));
process.on('disconnect', () => process.exit(0));
