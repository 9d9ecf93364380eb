import { AsyncSeriesHook, SyncHook } from 'tapable';
import type { ApplyAnswer, ApplyRequest } from './protocol/index.ts';

/** That of the request; `scheduled` is the end of a reload that was put off, `unknown` a mode of newer controllers. */
export type ApplyMode = 'auto' | 'reload' | 'revert_lkg' | 'scheduled' | 'unknown';

/** The hooks of the agent's own small plugin host. */
export interface AgentHooks {
  /** Before anything is written: a throw rejects the apply with its message. */
  readonly verify: AsyncSeriesHook<[ApplyRequest]>;
  /** Observer: every finished apply, rejected ones and the end of scheduled ones included, and what had been asked for. */
  readonly applied: SyncHook<[ApplyAnswer, ApplyMode]>;
}

export function createAgentHooks(): AgentHooks {
  return Object.freeze({
    verify: new AsyncSeriesHook<[ApplyRequest]>(['request'], 'verify'),
    applied: new SyncHook<[ApplyAnswer, ApplyMode]>(['answer', 'mode'], 'applied'),
  });
}
