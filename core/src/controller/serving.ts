import type { MergedConfig, RenderInput } from '../contract/index.ts';
import type { Evaluation } from '../pipeline/index.ts';
import type { Candidate } from './config-loader.ts';

/** The accepted configuration. */
export interface Serving extends Candidate {
  /** Without what is not served here; the one to render. */
  readonly config: MergedConfig;
  /** Watches that were not served when it was prepared. */
  readonly unserved: string;
}

/** A candidate that passed everything, with the render that did. */
export interface Accepted {
  readonly serving: Serving;
  readonly input: RenderInput;
  readonly evaluation: Evaluation;
  /** Of the store's snapshot that it was judged on, before objects were held. */
  readonly revision: number;
}

/** The optional watches that are not served, as a text to compare. */
export function unservedOf({ merged, watching }: Candidate): string {
  return Object.keys(merged.watchedResources)
    .filter((watch) => !watching.isServed(watch))
    .join();
}
