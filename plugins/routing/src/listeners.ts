import { coveringKeys, hostKey, type HostPattern } from './host.ts';
import type { Listener } from './route.ts';

/** Which listener serves which hosts: of one port the one with the most specific host. */
export class Listeners {
  readonly #keys = new Set<string>();
  readonly #hosts = new Map<string, Listener>();

  constructor(listeners: Iterable<Listener>) {
    for (const listener of listeners) {
      const key = listenerKey(listener);
      if (!this.#hosts.has(key)) this.#hosts.set(key, listener);
      this.#keys.add(key);
    }
  }

  /** One a key, in no particular order. */
  get all(): Iterable<Listener> {
    return this.#hosts.values();
  }

  /** Key of the listener that requests for these hosts arrive at; undefined when none does. */
  ownerOf(portKey: string, host: HostPattern): string | undefined {
    return coveringKeys(host)
      .map((key) => `${portKey}/${key}`)
      .find((key) => this.#keys.has(key));
  }
}

/** `<port key>/<host key>`: listeners of one key are one. */
export function listenerKey({ portKey, host }: Listener): string {
  return `${portKey}/${hostKey(host)}`;
}
