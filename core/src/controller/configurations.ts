import type { Log, MergedConfig, ResourceSource, StoreChange } from '../contract/index.ts';
import type { Candidate } from './config-loader.ts';
import { unservedOf, type Serving } from './serving.ts';
import { Watching } from './watching.ts';

export interface ConfigurationsParts {
  readonly source: ResourceSource;
  readonly log: Log;
  /** The store of the serving configuration changed. */
  readonly onServingChange: (changes: readonly StoreChange[], serving: Serving) => void;
  /** The store of the waiting configuration changed, or what it is to be prepared for. */
  readonly onCandidateChange: (candidate: Candidate) => void;
}

/** Which configuration serves, which one waits to, and the stores of both. */
export class Configurations {
  readonly #parts: ConfigurationsParts;
  readonly #watchings = new Set<Watching>();
  #serving: Serving | undefined;
  #candidate: Candidate | undefined;
  /** Was asked for last and not offered yet. */
  #filling: Watching | undefined;

  constructor(parts: ConfigurationsParts) {
    this.#parts = parts;
  }

  get serving(): Serving | undefined {
    return this.#serving;
  }

  /** Waits to be judged, or was refused over objects that may change. */
  get candidate(): Candidate | undefined {
    return this.#candidate;
  }

  /** A store with these watches: one that is there, or a new one. */
  watch({ watchedResources }: MergedConfig): Watching {
    const known = [...this.#watchings].find((watching) => watching.serves(watchedResources));
    this.#filling = known ?? this.#newWatching(watchedResources);
    this.#retire();
    return this.#filling;
  }

  /** False for what serves already: then nothing waits any more. */
  offer(candidate: Candidate): boolean {
    const serving = this.#serving;
    const isNew =
      serving === undefined ||
      candidate.merged.digest !== serving.merged.digest ||
      unservedOf(candidate) !== serving.unserved;
    this.#candidate = isNew ? candidate : undefined;
    // Another version of the object may say the same.
    if (!isNew) this.#serving = { ...serving, version: candidate.version };
    this.#filling = undefined;
    this.#retire();
    return isNew;
  }

  accept(serving: Serving): void {
    this.#serving = serving;
    this.#candidate = undefined;
    this.#retire();
  }

  stop(): void {
    for (const watching of this.#watchings) watching.stop();
    this.#watchings.clear();
  }

  #newWatching(watches: MergedConfig['watchedResources']): Watching {
    const watching = new Watching(this.#parts.source, watches, this.#parts.log);
    this.#watchings.add(watching);
    watching.onChange((changes) => this.#changed(watching, changes));
    return watching;
  }

  /** Stops stores that nobody uses. */
  #retire(): void {
    const used = [this.#serving?.watching, this.#candidate?.watching, this.#filling];
    for (const watching of this.#watchings) {
      if (used.includes(watching)) continue;
      watching.stop();
      this.#watchings.delete(watching);
    }
  }

  #changed(watching: Watching, changes: readonly StoreChange[]): void {
    const serving = this.#serving;
    if (serving?.watching === watching) {
      this.#parts.onServingChange(changes, serving);
      // A kind came or went: what requires it is to be taken in, or left out, and that is another configuration to judge.
      if (this.#candidate === undefined && unservedOf(serving) !== serving.unserved)
        this.#candidate = serving;
    }
    if (this.#candidate?.watching === watching) this.#parts.onCandidateChange(this.#candidate);
  }
}
