import {
  Cancelled,
  type Clock,
  type ConfigVersion,
  type HookContext,
  type MergedConfig,
} from '../contract/index.ts';
import { withDeadline } from '../host/deadline.ts';
import type { Pipeline } from '../pipeline/index.ts';
import type { Watching } from './watching.ts';

/** A configuration that merges, with its store filled. Nobody has judged it yet. */
export interface Candidate {
  readonly merged: MergedConfig;
  readonly watching: Watching;
  /** Of the object that says so, where the source has one. */
  readonly version?: ConfigVersion | undefined;
}

export interface ConfigLoaderParts {
  readonly pipeline: Pipeline;
  readonly clock: Clock;
  /** One that already watches the same, or a new one. */
  readonly watch: (merged: MergedConfig) => Watching;
  readonly onCandidate: (candidate: Candidate) => void;
  readonly onFailure: (error: Error, version: ConfigVersion | undefined) => void;
}

/**
 * Loads configurations beside the reconcile loop: a source or a store that takes its time must keep neither the serving
 * configuration from its work nor a newer one from being loaded.
 */
export class ConfigLoader {
  readonly #parts: ConfigLoaderParts;
  #current: AbortController | undefined;

  constructor(parts: ConfigLoaderParts) {
    this.#parts = parts;
  }

  /** Begins anew; what is being loaded is out of date. */
  restart(signal: AbortSignal): void {
    this.stop();
    const current = new AbortController();
    this.#current = current;
    void this.#load(AbortSignal.any([current.signal, signal]));
  }

  stop(): void {
    this.#current?.abort();
  }

  async #load(signal: AbortSignal): Promise<void> {
    const { onCandidate, onFailure } = this.#parts;
    let version: ConfigVersion | undefined;
    try {
      const filled = await this.#fill({ signal, caller: 'load-gate' }, (told) => (version = told));
      if (!signal.aborted) onCandidate({ ...filled, version });
    } catch (error) {
      if (signal.aborted || error instanceof Cancelled) return;
      onFailure(error instanceof Error ? error : new Error(String(error)), version);
    }
  }

  async #fill(
    context: HookContext,
    onVersion: (version: ConfigVersion) => void,
  ): Promise<Omit<Candidate, 'version'>> {
    const { pipeline, clock, watch } = this.#parts;
    const merged = pipeline.merge(await pipeline.load(context, onVersion));
    const watching = watch(merged);
    await withDeadline(() => watching.synced(), { ms: Infinity, signal: context.signal, clock });
    return { merged, watching };
  }
}
