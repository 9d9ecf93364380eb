import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CONFIG_CHANGES,
  OBJECT_INTERESTS,
  RESOURCE_SOURCE,
  z,
  type ConfigSource,
  type ObjectInterest,
  type ResourceSource,
  type StoreChange,
  type WatchContent,
} from '@haptic/core/contract';
import { createHooks, Host, offer, systemClock } from '@haptic/core/host';
import { memoryLog, memoryMeter, type MemoryMeter } from '@haptic/core/testing';
import kubeConnection from '@haptic/kube-connection';
import sourceCrd from '@haptic/source-crd';
import { Store } from '../../../core/src/store/index.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { tempDir } from '../../haproxy/temp-dir.ts';

export interface SourceOptions {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly config?: string;
  /** What a reader of kinds says in its setup. */
  readonly interests?: readonly ObjectInterest[];
  /** Milliseconds. */
  readonly discoveryInterval?: number;
}

export interface StartedSource {
  readonly resources: ResourceSource;
  /** Times that the source said that the set may have changed. */
  readonly configChanges: () => number;
  readonly log: ReturnType<typeof memoryLog>;
  readonly meter: MemoryMeter;
  load(): Promise<readonly ConfigSource[]>;
  /** Fills a store until the test ends. */
  filled(watches: Readonly<Record<string, Partial<WatchContent>>>): Promise<FilledStore>;
  close(): Promise<void>;
}

export interface FilledStore {
  readonly store: Store;
  readonly changes: StoreChange[];
  stop(): void;
}

const unset: WatchContent = {
  apiVersions: ['v1'],
  resources: 'configmaps',
  optional: false,
  indexBy: [],
  namespaces: [],
  ignoreFields: [],
  admission: false,
  debounce: 0,
};

/** The two plugins in a host of their own, over a real API server; ends with the test. */
export async function startSource(options: SourceOptions): Promise<StartedSource> {
  const file = join(await tempDir(), 'kubeconfig');
  await writeFile(file, options.kubeconfig);
  let configChanges = 0;
  let resources: ResourceSource | undefined;
  const log = memoryLog();
  const meter = memoryMeter(systemClock);
  const stop = new AbortController();
  const { namespace, config = 'haptic', interests = [], discoveryInterval = 200 } = options;
  const host = await Host.start({
    hooks: createHooks(),
    observers: [],
    log,
    meter,
    services: [offer(CONFIG_CHANGES, { changed: () => configChanges++ })],
    plugins: [
      { plugin: kubeConnection, options: { kubeconfig: file, namespace, discoveryInterval } },
      { plugin: sourceCrd, options: { config } },
      {
        plugin: {
          name: 'reader',
          apiVersion: 1,
          options: z.strictObject({}).optional(),
          setup(context) {
            resources = context.use(RESOURCE_SOURCE);
            for (const interest of interests) context.use(OBJECT_INTERESTS).add(interest);
          },
        },
      },
    ],
  });
  const close = async (): Promise<void> => {
    stop.abort();
    await host.close();
  };
  onCleanup(close);
  return {
    resources: resources!,
    configChanges: () => configChanges,
    log,
    meter,
    close,
    async load() {
      let provided: readonly ConfigSource[] = [];
      const collector = {
        version() {},
        provide: (sources: readonly ConfigSource[]) => void (provided = sources),
      };
      await host.hooks.load.promise(collector, { signal: stop.signal, caller: 'load-gate' });
      return provided;
    },
    async filled(watches) {
      const complete = Object.fromEntries(
        Object.entries(watches).map(([name, watch]) => [name, { ...unset, ...watch }]),
      );
      const own = new AbortController();
      const store = new Store(complete);
      const changes: StoreChange[] = [];
      await resources!.watch(complete, store, AbortSignal.any([stop.signal, own.signal]));
      store.onChange((more) => void changes.push(...more));
      return { store, changes, stop: () => own.abort() };
    },
  };
}
