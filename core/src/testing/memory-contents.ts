import type { ContentRequest, Contents, ContentSource } from '../contract/index.ts';

/** A source of contents that a test moves. */
export interface MemoryContents extends ContentSource {
  /** Keys that are wanted now. */
  readonly wanted: readonly string[];
  /** Another text of a key arrives. */
  bring(key: string, text: string): void;
  /** What was refused, as `key=text`. */
  readonly refused: readonly string[];
  /** How an attempt to get contents ends; at once without. */
  attempt?: (keys: readonly string[]) => Promise<void>;
}

/** Contents of a key that nobody wants arrive, but are not pending. */
export function memoryContents(): MemoryContents {
  let accepted: Contents = new Map();
  let requests: readonly ContentRequest[] = [];
  const newest = new Map<string, string>();
  const refused = new Set<string>();
  const listeners = new Set<() => void>();
  const pending = (): Contents => {
    const wanted = requests.flatMap(({ key }) => {
      const text = newest.get(key);
      return text === undefined ? [] : [[key, text] as const];
    });
    return new Map(
      wanted.filter(([key, text]) => accepted.get(key) !== text && !refused.has(`${key}=${text}`)),
    );
  };
  const tell = (): void => {
    if (pending().size > 0) listeners.forEach((listener) => listener());
  };
  const source: MemoryContents = {
    accepted: () => accepted,
    pending,
    want(all) {
      requests = all;
      tell();
    },
    attempted: async (keys) => await source.attempt?.(keys),
    accept(contents) {
      accepted = new Map([...accepted, ...contents]);
    },
    refuse(contents) {
      for (const [key, text] of contents) refused.add(`${key}=${text}`);
    },
    reconsider() {
      refused.clear();
      tell();
    },
    onPending(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get wanted() {
      return requests.map(({ key }) => key);
    },
    bring(key, text) {
      newest.set(key, text);
      tell();
    },
    get refused() {
      return [...refused];
    },
  };
  return source;
}
