import type { StoreView } from '../contract/index.ts';
import type { Draft } from './draft.ts';
import type { Entry } from './entry.ts';

/**
 * What is left of a draft that was kept, until its view is accepted. Not the draft, which knows what was accepted before it: views would
 * hold on to each other for ever.
 */
export interface Settled {
  readonly view: StoreView;
  readonly passed: readonly Entry[];
}

export function settledBy({ subject, passed }: Draft): Settled {
  return { view: subject.view, passed };
}
