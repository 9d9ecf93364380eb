import { serviceKey, type ServiceKey } from '@haptic/core/contract';
import type {
  AgentState,
  ApplyAnswer,
  ApplyRequest,
  Conflict,
  ErrorAnswer,
  StateQuery,
} from './protocol/index.ts';

/** The answer to an apply, with its HTTP status. */
export type ApplyReply =
  | { readonly status: 200; readonly body: ApplyAnswer }
  | { readonly status: 409; readonly body: Conflict }
  | { readonly status: 422; readonly body: ErrorAnswer };

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
