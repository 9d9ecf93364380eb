import { Held, Refused, type Problem, type RejectionReason } from '../contract/index.ts';
import type { ConfigStage } from './config-judge.ts';

/** A refusal whose reason the stage alone does not tell. */
export class GateRefusal extends Refused {
  readonly reason: RejectionReason;

  constructor(reason: RejectionReason, problems: readonly Problem[]) {
    super(problems);
    this.reason = reason;
  }
}

/** The word for why a configuration must not serve. */
export function rejectionReason(stage: ConfigStage, error: Error): RejectionReason {
  if (error instanceof Held || error instanceof GateRefusal) return error.reason;
  return stage === 'config' && error instanceof Refused ? 'ConfigInvalid' : 'LoadGateFailed';
}
