import type { RouteRequest } from './config.ts';
import type { StandIn } from './render-input.ts';
import type { Rendered } from './render-plan.ts';

/** What a HAProxy answered, and who in it. */
export interface ProbeAnswer {
  /** Undefined: it closed the connection, or said nothing in the time that there is. */
  readonly status?: number;
  readonly location?: string;
  /** Backends that took the request: none where the frontend answered, several where one hands on to another frontend. */
  readonly backends: readonly string[];
}

/**
 * A place for one HAProxy on rendered files. It shares nothing with other processes: what it is rendered with stands for all
 * that files say of the world outside.
 */
export interface ProbeSite extends AsyncDisposable {
  /** Where it listens, as bind lines say it: on loopback. */
  readonly binds: readonly string[];
  /** Of its worker. */
  readonly workerSocket: string;
  /** Answers 200 to everything. */
  readonly standIn: StandIn;
  /** @throws Refused when HAProxy does not start on these files, or listens where it was not told to. @throws Cancelled */
  start(rendered: Rendered, signal: AbortSignal): Promise<void>;
  /** One after the other. @throws Refused for a request that cannot be sent. @throws Cancelled */
  ask(bind: number, request: RouteRequest, signal: AbortSignal): Promise<ProbeAnswer>;
  /** Names of all backends that it has. */
  backends(): Promise<readonly string[]>;
}

/** Starts HAProxy on rendered files and sends it requests, for tests of configurations. Part of what the `haproxy` judge provides. */
export interface TrafficProbe {
  /** @param binds How many addresses it is to listen on. @throws Cancelled */
  open(binds: number, signal: AbortSignal): Promise<ProbeSite>;
}
