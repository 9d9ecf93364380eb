import type { ServerResponse } from 'node:http';
import { ScriptedApi, sends, status, type Call } from './scripted-api.ts';

export interface StoredLease {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

type Fault = 'refuse' | 'conflict' | 'reset' | 'hang' | 'lose the answer';

/** One Lease behind an API server's rules: a write needs the current `resourceVersion`. */
export class LeaseStore {
  readonly server: ScriptedApi;
  lease: StoredLease | undefined;
  /** What goes wrong with each call now. */
  fault: ((call: Call) => Fault | undefined) | undefined;
  #version = 100;

  private constructor(server: ScriptedApi) {
    this.server = server;
    server.otherwise((response, call) => this.#answer(response, call));
  }

  static async start(): Promise<LeaseStore> {
    return new LeaseStore(await ScriptedApi.start());
  }

  /** As somebody who does not care who holds it. */
  edit(change: (lease: StoredLease) => object): void {
    if (this.lease === undefined) throw new Error('there is no lease');
    this.#store(change(this.lease));
  }

  get holder(): unknown {
    return this.lease?.spec?.['holderIdentity'];
  }

  get epoch(): number {
    return Number(this.lease?.metadata.annotations?.['haproxy-haptic.org/epoch']);
  }

  #answer(response: ServerResponse, call: Call): void {
    const fault = this.fault?.(call);
    if (fault === 'hang') return;
    if (fault === 'reset') return void response.socket?.resetAndDestroy();
    if (fault === 'refuse') return void sends(500, status(500, 'InternalError'))(response, call);
    if (fault === 'conflict') return void sends(409, status(409, 'Conflict'))(response, call);
    const [code, body] = this.#apply(call);
    if (fault === 'lose the answer') return void response.socket?.resetAndDestroy();
    void sends(code, body)(response, call);
  }

  #apply({ method, body }: Call): readonly [number, unknown] {
    if (method === 'POST') {
      if (this.lease !== undefined) return [409, status(409, 'AlreadyExists')];
      return [201, this.#store(body as object)];
    }
    if (this.lease === undefined) return [404, status(404, 'NotFound')];
    if (method === 'GET') return [200, this.lease];
    const { resourceVersion } = (body as StoredLease).metadata;
    if (resourceVersion !== this.lease.metadata.resourceVersion) return [409, status(409, 'Conflict')];
    return [200, this.#store(body as object)];
  }

  #store(object: object): StoredLease {
    const { metadata, ...rest } = object as StoredLease;
    this.#version += 1;
    this.lease = {
      ...rest,
      metadata: {
        ...metadata,
        uid: this.lease?.metadata.uid ?? `uid-${this.#version}`,
        resourceVersion: `${this.#version}`,
      },
    };
    return this.lease;
  }
}
