import type { Clock, KubeObject, Log, Meter } from '@haptic/core/contract';
import { configResource, countRestarts, libraryResource, Reflector, type KubeConnection } from '@haptic/kube';

export interface ConfigObjectsOptions {
  readonly kube: KubeConnection;
  /** Name of the one config. */
  readonly config: string;
  readonly changed: () => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}

/** The config and the libraries of its namespace as they are now. Status and metadata of them are nobody's business here. */
export class ConfigObjects {
  readonly libraries = new Map<string, KubeObject>();
  readonly #config: Reflector;
  readonly #libraries: Reflector;
  #current: KubeObject | undefined;
  #notServed = false;
  readonly #refused = Promise.withResolvers<void>();

  constructor({ kube, config, changed, clock, log, meter }: ConfigObjectsOptions) {
    const common = { api: kube.api, namespace: kube.namespace, ignoreFields: ['status'], clock, log };
    const keep = (objects: readonly KubeObject[]): void => {
      for (const object of objects) this.libraries.set(object.metadata.name, object);
    };
    this.#config = new Reflector({
      ...common,
      resource: configResource,
      observe: countRestarts(meter, configResource.resource),
      fieldSelector: `metadata.name=${config}`,
      handler: {
        replace: ([object]) => {
          this.#current = object;
          this.#notServed = false;
          changed();
        },
        apply: ({ upserts }) => {
          [this.#current] = upserts;
          changed();
        },
        notServed: () => {
          this.#notServed = true;
          this.#refused.resolve();
          changed();
        },
      },
    });
    this.#libraries = new Reflector({
      ...common,
      resource: libraryResource,
      observe: countRestarts(meter, libraryResource.resource),
      handler: {
        replace: (objects) => {
          this.libraries.clear();
          keep(objects);
          changed();
        },
        apply: ({ upserts, deletes }) => {
          for (const { name } of deletes) this.libraries.delete(name);
          keep(upserts);
          changed();
        },
        notServed: () => changed(),
      },
    });
  }

  get config(): KubeObject | undefined {
    return this.#current;
  }

  /** The server does not know the kinds: their definitions are not installed. */
  get notServed(): boolean {
    return this.#notServed;
  }

  /** What the server refuses until rights or credentials are others. */
  get refusals(): readonly string[] {
    return [this.#config, this.#libraries].flatMap(({ refusal }) => refusal?.message ?? []);
  }

  /** Resolves when both lists are here, or the server said that it does not know the kinds. */
  get answered(): Promise<unknown> {
    const both = Promise.all([this.#config.synced, this.#libraries.synced]);
    return Promise.race([both, this.#refused.promise]);
  }

  /** The definitions may have been installed: asks again at once. */
  kick(): void {
    this.#config.kick();
    this.#libraries.kick();
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#config.run(signal), this.#libraries.run(signal)]);
  }
}
