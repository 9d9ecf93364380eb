import { AsyncSeriesHook, SyncHook } from 'tapable';
import type { ServiceKey } from '@haptic/core/contract';
import { serviceKey } from '@haptic/core/contract';
import type { ApplyReply } from './apply/applier.ts';
import type { AgentState, ApplyAnswer, ApplyRequest, StateQuery } from './protocol/index.ts';

/** The hooks of the agent's own small plugin host. */
export interface AgentHooks {
  /** Before anything is written: a throw rejects the apply with its message. */
  readonly verify: AsyncSeriesHook<[ApplyRequest]>;
  /** Observer: every finished apply, rejected ones and the end of scheduled ones included. */
  readonly applied: SyncHook<[ApplyAnswer]>;
}

export function createAgentHooks(): AgentHooks {
  return Object.freeze({
    verify: new AsyncSeriesHook<[ApplyRequest]>(['request'], 'verify'),
    applied: new SyncHook<[ApplyAnswer]>(['answer'], 'applied'),
  });
}

/** The agent as its API plugin sees it. */
export interface AgentService {
  state(query: StateQuery, signal: AbortSignal): Promise<AgentState>;
  apply(request: ApplyRequest): Promise<ApplyReply>;
}
export const AGENT: ServiceKey<AgentService> = serviceKey('agent');
