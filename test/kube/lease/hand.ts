import { deleteObject, getObject, leaseResource, replaceObject, type KubeApi } from '@haptic/kube';
import type { KubeObject } from '@haptic/core/contract';

/** A Lease in the hands of somebody who knows no rules. */
export class Hand {
  readonly #api: KubeApi;
  readonly #namespace: string;
  readonly #name: string;
  #kept: KubeObject | undefined;

  constructor(api: KubeApi, namespace: string, name: string) {
    this.#api = api;
    this.#namespace = namespace;
    this.#name = name;
  }

  get #key() {
    return { resource: leaseResource, namespace: this.#namespace, name: this.#name };
  }

  async holder(identity: string): Promise<void> {
    await this.#edit((lease) => ({
      ...lease,
      spec: { ...(lease['spec'] as object), holderIdentity: identity },
    }));
  }

  async delete(): Promise<void> {
    await deleteObject(this.#api, this.#key);
  }

  async backUp(): Promise<void> {
    this.#kept = await getObject(this.#api, this.#key);
  }

  async restore(): Promise<void> {
    const { spec, metadata } = this.#kept ?? { spec: {}, metadata: { annotations: {} } };
    await this.#edit((lease) => ({
      ...lease,
      spec,
      metadata: { ...lease.metadata, annotations: metadata.annotations },
    }));
  }

  /** Until it happens between two writes of the holder. */
  async #edit(change: (lease: KubeObject) => object): Promise<void> {
    for (let attempt = 0; attempt < 50; attempt++) {
      const lease = await getObject(this.#api, this.#key);
      if (lease === undefined) return;
      const done = await replaceObject(this.#api, this.#key, change(lease)).then(
        () => true,
        () => false,
      );
      if (done) return;
    }
    throw new Error('the lease could not be edited');
  }
}
