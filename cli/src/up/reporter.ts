import type {
  Finding,
  Outcome,
  QuarantineChange,
  QuarantinedObject,
  RenderPlan,
} from '@haptic/core/contract';
import type { ServedRoute } from '@haptic/routing';

export interface Serving {
  readonly url: string;
  readonly haproxyVersion: string;
  readonly routes: readonly ServedRoute[];
}

export interface AppliedChange {
  readonly plan: RenderPlan;
  readonly outcome: Outcome;
  /** `updated ingresses default/shop`; empty for a change of the configuration. */
  readonly changes: readonly string[];
  /** From the first event of the change to the outcome. */
  readonly durationMs: number;
}

/** HAProxy's judge would not load a plan that went out already: pods go back to what it accepted last. */
export interface RefusedChange extends Pick<AppliedChange, 'changes'> {
  readonly planId: string;
  /** Why, the errors only. */
  readonly findings: readonly Finding[];
}

/** Says what `haptic up` does, to a person or to a script. What is wrong comes through the log. */
export interface Reporter {
  starting(): void;
  /** The first plan is loaded. */
  serving(serving: Serving): void;
  applied(change: AppliedChange): void;
  refused(change: RefusedChange): void;
  /** Something refuses an object, or refuses it for another reason. */
  held(object: QuarantinedObject): void;
  released(object: QuarantineChange['released'][number]): void;
  stopping(): void;
}
