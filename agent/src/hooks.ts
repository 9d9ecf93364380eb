import { AsyncSeriesHook, SyncHook } from 'tapable';
import type { ServiceKey } from '@haptic/core/contract';
import { serviceKey } from '@haptic/core/contract';
import type { ApplyReply } from './apply/applier.ts';
import type { AgentState, ApplyAnswer, ApplyRequest, StateQuery } from './protocol/index.ts';

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

/** The agent as its API plugin sees it. */
export interface AgentService {
  state(query: StateQuery, signal: AbortSignal): Promise<AgentState>;
  apply(request: ApplyRequest): Promise<ApplyReply>;
}
export const AGENT: ServiceKey<AgentService> = serviceKey('agent');

/** What is measured, as a scraper reads it. Provided by the plugin that keeps it. */
export interface Scrape {
  readonly contentType: string;
  text(): Promise<string>;
}
export const SCRAPE: ServiceKey<Scrape> = serviceKey('scrape');
