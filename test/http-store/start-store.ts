import {
  CONTENT_SOURCE,
  STATE_STORE,
  TEMPLATE_NAMES,
  type ContentSource,
  type StateStore,
} from '@haptic/core/contract';
import { createHooks, Host, offer } from '@haptic/core/host';
import {
  fakeClock,
  memoryLog,
  memoryMeter,
  type FakeClock,
  type MemoryLog,
  type MemoryMeter,
} from '@haptic/core/testing';
import type { Lookup } from '../../plugins/http-store/src/network/connector.ts';
import { parseFetchOptions } from '../../plugins/http-store/src/fetch-options.ts';
import { httpStore } from '../../plugins/http-store/src/plugin.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { until } from '../haproxy/until.ts';

export interface Store {
  readonly contents: ContentSource;
  readonly clock: FakeClock;
  readonly log: MemoryLog;
  readonly meter: MemoryMeter;
  /** Wants these URLs with these options of `http.fetch`, and nothing else. */
  want(urls: Readonly<Record<string, object>>): void;
  /** The line of the health body. */
  problem(): Promise<string | undefined>;
  /** Waits until so many attempts have ended. */
  attempts(count: number): Promise<void>;
  close(): Promise<void>;
}

/** A state store over memory. */
export function memoryState(
  documents = new Map<string, string>(),
): StateStore & { readonly documents: Map<string, string> } {
  return {
    documents,
    read: async (name) => documents.get(name),
    write: async (name, document) => void documents.set(name, document),
  };
}

/** The plugin on a host of its own, closed at the end of the test. Time stands still, the network is real. */
export async function startStore({
  options = {},
  lookup,
  state,
}: {
  readonly options?: object;
  readonly lookup?: Lookup;
  readonly state?: StateStore;
} = {}): Promise<Store> {
  const clock = fakeClock();
  const log = memoryLog();
  const meter = memoryMeter(clock);
  const plugin = httpStore({ random: () => 0.5, ...(lookup && { lookup }) });
  const host = await Host.start({
    hooks: createHooks(),
    observers: [],
    plugins: [
      {
        plugin,
        options: { allowHosts: ['127.0.0.1'], allowAddresses: ['127.0.0.1'], ...options },
      },
    ],
    services: [
      offer(TEMPLATE_NAMES, { global() {}, helper() {} }),
      ...(state === undefined ? [] : [offer(STATE_STORE, state)]),
    ],
    log,
    meter,
    clock,
  });
  onCleanup(() => host.close());
  const contents = host.use(CONTENT_SOURCE);
  const ended = (): number =>
    meter.series('haptic_http_store_fetch_total').reduce((sum, { value }) => sum + value, 0);
  return {
    contents,
    clock,
    log,
    meter,
    want(urls) {
      contents.want(
        Object.entries(urls).map(([url, given]) => ({
          key: new URL(url).href,
          options: parseFetchOptions(given).how,
          place: 'main:1:1',
        })),
      );
    },
    async problem() {
      const [report] = await host.health();
      return report?.problem;
    },
    attempts: async (count) => {
      await until(() => ended() >= count && clock.sleepers > 0, {
        deadlineMs: 30_000,
        what: `${count} attempts`,
      });
    },
    close: () => host.close(),
  };
}
