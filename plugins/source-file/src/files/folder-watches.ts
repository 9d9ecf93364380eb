import { watch, type BigIntStats, type FSWatcher } from 'node:fs';

interface Watched {
  readonly identity: string;
  readonly watcher: FSWatcher;
}

/**
 * One watch a folder, of the file system's own: an event is a hint to look again and says nothing else, so that lost, doubled and
 * misnamed ones do no harm. Node's recursive watching is not used: it misses files in folders that were just made, and what
 * links lead to.
 */
export class FolderWatches {
  readonly #watched = new Map<string, Watched>();
  readonly #seen = new Set<string>();
  readonly #onEvent: () => void;
  readonly #onFailure: (error: unknown) => void;

  constructor(onEvent: () => void, onFailure: (error: unknown) => void) {
    this.#onEvent = onEvent;
    this.#onFailure = onFailure;
  }

  /** Watches a folder from now on; another folder of the same path is another folder. */
  readonly visit = (path: string, { dev, ino }: BigIntStats): void => {
    this.#seen.add(path);
    const identity = `${dev}:${ino}`;
    const known = this.#watched.get(path);
    if (known?.identity === identity) return;
    known?.watcher.close();
    this.#watched.delete(path);
    try {
      const watcher = watch(path, { persistent: false }, this.#onEvent);
      watcher.on('error', () => {
        this.#forget(path, watcher);
        this.#onEvent();
      });
      this.#watched.set(path, { identity, watcher });
    } catch (error) {
      this.#onFailure(error);
    }
  };

  /** Ends the watches of folders that were not visited since the last time. */
  endUnseen(): void {
    for (const [path, { watcher }] of this.#watched) {
      if (!this.#seen.has(path)) this.#forget(path, watcher);
    }
    this.#seen.clear();
  }

  close(): void {
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }

  #forget(path: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watched.get(path)?.watcher === watcher) this.#watched.delete(path);
  }
}
