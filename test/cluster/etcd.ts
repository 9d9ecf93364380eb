import { join } from 'node:path';
import type { Guard } from './guard.ts';
import { Program } from './program.ts';

export interface EtcdPlace {
  readonly binary: string;
  readonly folder: string;
  readonly clientPort: number;
  readonly peerPort: number;
  readonly guard: Guard;
}

export class Etcd {
  readonly program: Program;
  readonly url: string;

  constructor({ binary, folder, clientPort, peerPort, guard }: EtcdPlace) {
    this.url = `http://127.0.0.1:${clientPort}`;
    const peer = `http://127.0.0.1:${peerPort}`;
    const args = [
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${this.url}`,
      `--advertise-client-urls=${this.url}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      // The tests kill the process, not the machine: nothing is lost without fsync, and starts are quick.
      '--unsafe-no-fsync',
      '--log-level=warn',
    ];
    this.program = new Program({ binary, args, logFile: join(folder, 'etcd.log'), guard });
  }

  async ready(): Promise<boolean> {
    const response = await fetch(`${this.url}/health`, { signal: AbortSignal.timeout(1_000) });
    return ((await response.json()) as { health?: string }).health === 'true';
  }

  /** Forgets all history up to now: watches and continue tokens from before are answered by 410. Returns the revision. */
  async compact(): Promise<string> {
    const range = (await this.#call('/v3/kv/range', { key: 'AA==' })) as { header: { revision: string } };
    const { revision } = range.header;
    await this.#call('/v3/kv/compaction', { revision, physical: true });
    return revision;
  }

  async #call(path: string, body: object): Promise<unknown> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`etcd ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}
