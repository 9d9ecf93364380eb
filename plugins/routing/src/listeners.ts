import { coveringTables, hostKey } from './host.ts';
import type { Listener } from './route.ts';

/** Which listener serves which hosts: of one port the one with the most specific host. */
export class Listeners {
  /** The tables that cover each listener's hosts, by its key. */
  readonly #covering = new Map<string, readonly string[]>();
  /** Some listener has a host of its own: without one, only the last covering table can be a listener's. */
  #specific = false;

  constructor(listeners: Iterable<Listener>) {
    for (const listener of listeners) {
      const key = listenerKey(listener);
      if (this.#covering.has(key)) continue;
      this.#covering.set(key, coveringTables(listener.portKey, listener.host));
      this.#specific ||= listener.host.kind !== 'any';
    }
  }

  /** By key, with the tables that cover its hosts. */
  get all(): Iterable<readonly [key: string, covering: readonly string[]]> {
    return this.#covering;
  }

  /** Key of the listener that requests for these hosts arrive at; undefined when none does. */
  ownerOf(covering: readonly string[]): string | undefined {
    if (this.#specific) return covering.find((key) => this.#covering.has(key));
    const last = covering.at(-1);
    return last !== undefined && this.#covering.has(last) ? last : undefined;
  }
}

const keys = new WeakMap<Listener, string>();

/** `<port key>/<host key>`, as a table's name: listeners of one key are one. */
export function listenerKey(listener: Listener): string {
  let key = keys.get(listener);
  if (key === undefined) {
    key = `${listener.portKey}/${hostKey(listener.host)}`;
    keys.set(listener, key);
  }
  return key;
}
