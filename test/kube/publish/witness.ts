import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '@haptic/core/contract';
import type { KubeApi } from '@haptic/kube';
import { onCleanup } from '../../haproxy/cleanup.ts';

interface WatchEvent {
  readonly type: string;
  readonly object: KubeObject;
}

/** Sees every version of the objects of one collection, in their order, over the ends of its connections. */
export class Witness {
  readonly #api: KubeApi;
  readonly #path: string;
  readonly #stop = new AbortController();
  readonly #versions = new Map<string, KubeObject[]>();
  #version: string | undefined;

  private constructor(api: KubeApi, path: string) {
    this.#api = api;
    this.#path = path;
  }

  /** Ends with the test. */
  static of(api: KubeApi, path: string): Witness {
    const witness = new Witness(api, path);
    const running = witness.#run();
    onCleanup(async () => {
      witness.#stop.abort();
      await running;
    });
    return witness;
  }

  versionsOf(name: string): readonly KubeObject[] {
    return this.#versions.get(name) ?? [];
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      // Whatever ends it: it goes on where it was, or begins anew where that is forgotten.
      await this.#follow(signal).catch(() => undefined);
      await sleep(20);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    if (this.#version === undefined) {
      const list = (await this.#api.json({ path: this.#path, signal })) as {
        readonly metadata: { readonly resourceVersion: string };
        readonly items: readonly KubeObject[];
      };
      for (const object of list.items) this.#see(object);
      this.#version = list.metadata.resourceVersion;
    }
    const query = { watch: '1', resourceVersion: this.#version };
    const body = await this.#api.stream({ path: this.#path, query, signal });
    for await (const line of createInterface({ input: body })) {
      const { type, object } = JSON.parse(line) as WatchEvent;
      if (type === 'ERROR') {
        this.#version = undefined;
        return;
      }
      this.#version = object.metadata.resourceVersion;
      if (type !== 'DELETED') this.#see(object);
    }
  }

  #see(object: KubeObject): void {
    const { name, resourceVersion } = object.metadata;
    const versions = this.#versions.get(name) ?? [];
    this.#versions.set(name, versions);
    if (versions.at(-1)?.metadata.resourceVersion !== resourceVersion) versions.push(object);
  }
}
