import { Refused, type ConfigSource, type JsonObject, type Log } from '@haptic/core/contract';
import type { FileTree } from '../files/file-tree.ts';
import { assemble } from './assemble.ts';
import type { ConfigDocument } from './read-config-file.ts';

export interface FileConfigOptions {
  readonly tree: FileTree<readonly ConfigDocument[]>;
  /** Files of the shipped libraries, in their order. */
  readonly libraries: readonly string[];
  readonly settings: JsonObject;
  readonly log: Log;
}

/** The config set of some files; the last whole one stays while a new one is not. */
export class FileConfig {
  readonly #options: FileConfigOptions;
  #sources: readonly ConfigSource[] | undefined;
  #refused: Refused | undefined;

  constructor(options: FileConfigOptions) {
    this.#options = options;
  }

  /** @throws Refused while there has never been a whole set. */
  sources(): readonly ConfigSource[] {
    if (this.#sources === undefined) throw this.#refused ?? new Refused('the config set has not been read');
    return this.#sources;
  }

  /** Takes what the files hold now; true when there is another set. */
  update(): boolean {
    const { log } = this.#options;
    try {
      this.#sources = this.#assemble();
      // A warning, as the error that it takes back would be seen: who sees the one must see the other.
      if (this.#refused !== undefined) log.warn({}, 'config set is whole again');
      this.#refused = undefined;
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const said = this.#refused?.message;
      this.#refused = error;
      if (said !== error.message)
        log.error({ problem: error.message }, 'config set is refused, the last whole one stays');
      return false;
    }
  }

  #assemble(): readonly ConfigSource[] {
    const { tree, libraries, settings } = this.#options;
    const unread = tree.unread();
    if (unread.length > 0) throw new Refused(unread);
    const values = tree.values();
    const shipped = libraries.flatMap((path) => values.get(path)?.value ?? []);
    const folder = [...values].flatMap(([path, { value }]) => (libraries.includes(path) ? [] : value));
    return assemble({ shipped, folder }, settings);
  }
}
