import {
  CONFIG_CHANGES,
  definePlugin,
  RESOURCE_SOURCE,
  z,
  type ConfigSource,
  type ConfigVersion,
  type Hooks,
  type KubeObject,
  type StoreSink,
} from '../contract/index.ts';
import type { EnabledPlugin } from '../host/index.ts';

/** A source of configuration and objects that a test moves. */
export interface MemorySource {
  spec: unknown;
  /** Of the object that it would stand in; none without. */
  version?: ConfigVersion;
  /** What `load` does instead of handing out the spec at once. */
  load?: (signal: AbortSignal) => Promise<void>;
  objects: Record<string, readonly KubeObject[] | 'not served'>;
  readonly watching: {
    readonly sink: StoreSink;
    readonly signal: AbortSignal;
    readonly watches: readonly string[];
  }[];
  /** How a watch ends that was asked for; at once without. */
  filled?: (signal: AbortSignal) => Promise<void>;
  changed(): void;
  /** Puts an object into the newest store. */
  put(watch: string, object: KubeObject): void;
}

/** A configuration with one required and one optional watch. */
export function rigSpec(template = 'x', more: object = {}): object {
  return {
    haproxyConfig: { template },
    watchedResources: {
      ingresses: { apiVersion: 'networking.k8s.io/v1', resources: 'ingresses' },
      slices: { apiVersion: 'discovery.k8s.io/v1', resources: 'endpointslices', debounce: '0s' },
      gateways: { apiVersion: 'gateway.networking.k8s.io/v1', resources: 'gateways', optional: true },
    },
    ...more,
  };
}

export function memorySource(): MemorySource {
  const source: MemorySource = {
    spec: rigSpec(),
    objects: { gateways: 'not served' },
    watching: [],
    changed() {},
    put(watch, object) {
      source.watching.at(-1)!.sink.apply(watch, { upserts: [object], deletes: [] });
    },
  };
  return source;
}

export function sourcePlugin(source: MemorySource): EnabledPlugin<Hooks> {
  const plugin = definePlugin({
    name: 'source',
    apiVersion: 1,
    options: z.strictObject({}),
    setup({ name, hooks, use, provide }) {
      const changes = use(CONFIG_CHANGES);
      source.changed = () => changes.changed();
      hooks.load.tapPromise(name, async (collector, { signal }) => {
        const { spec, version } = source;
        if (version !== undefined) collector.version(version);
        await source.load?.(signal);
        const config: ConfigSource = { kind: 'config', name: 'main', spec };
        collector.provide([config]);
      });
      provide(RESOURCE_SOURCE, {
        async watch(watches, sink, signal) {
          source.watching.push({ sink, signal, watches: Object.keys(watches) });
          for (const watch of Object.keys(watches)) {
            const objects = source.objects[watch] ?? [];
            if (objects === 'not served') sink.notServed(watch);
            else sink.replace(watch, objects);
          }
          await source.filled?.(signal);
        },
      });
    },
  });
  return { plugin };
}
