import { setTimeout as sleep } from 'node:timers/promises';
import { request } from '../../haproxy/raw-request.ts';
import { markHeaders } from './config-sets.ts';

const PAUSE_MS = 20;

/** A client that never stops asking for a host that never changes. */
export class Prober {
  readonly #wrong: string[] = [];
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #answers = 0;
  #set = '';

  constructor(port: number, host: string) {
    this.#done = this.#run(port, host);
  }

  /** Answers that were none, or of a torn set. */
  get wrong(): readonly string[] {
    return this.#wrong;
  }

  get answers(): number {
    return this.#answers;
  }

  /** The number of the set that answered last. */
  get set(): string {
    return this.#set;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #run(port: number, host: string): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const response = await request(port, { host });
        const [first = '', second = ''] = markHeaders.map((name) => response.header(name));
        if (response.status !== 200 || first !== second)
          this.#wrong.push(`${response.status} of sets ${first} and ${second}`);
        this.#set = first;
        this.#answers += 1;
      } catch (error) {
        this.#wrong.push((error as Error).message);
      }
      await sleep(PAUSE_MS);
    }
  }
}
