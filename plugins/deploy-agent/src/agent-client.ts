import { readFileSync } from 'node:fs';
import type { Dispatcher } from 'undici';
import {
  applyAnswerSchema,
  conflictSchema,
  errorAnswerSchema,
  LIMITS,
  stateSchema,
  type AgentState,
  type ApplyAnswer,
  type Conflict,
} from '@haptic/agent/protocol';
import type { z } from 'zod';
import { AgentConnections, type AgentResponse, type ConnectionTarget } from './agent-connections.ts';

/** Where an agent listens. */
export interface AgentEndpoint extends ConnectionTarget {
  readonly name: string;
  /** Only with TLS may there be none. */
  readonly tokenFile?: string | undefined;
}

/** The agent did not answer, or with something that is no answer: what it did is not known. */
export class AgentUnreachable extends Error {
  override readonly name = 'AgentUnreachable';
}

/** A typed reply to an apply. `broken` and `too_large`: the agent will not take this message, however often. */
export type ApplyReply =
  | { readonly kind: 'answer'; readonly answer: ApplyAnswer }
  | { readonly kind: 'conflict'; readonly conflict: Conflict }
  | { readonly kind: 'broken' | 'too_large'; readonly message: string };

export interface StateRequest {
  readonly plan: boolean;
  readonly verify?: boolean;
  /** With what its worker has counted. */
  readonly health?: boolean;
  /** Hold the answer until something else than this is to be said. */
  readonly after?: { readonly generation: number; readonly worker: number; readonly waitMs: number };
}

const ANSWER_LIMIT = 1.5 * LIMITS.plan;

/** Speaks the agent's protocol and trusts nothing that comes back: sizes are capped, shapes checked. */
export class AgentClient {
  readonly #connections: AgentConnections;
  readonly #tokenFile: string | undefined;
  readonly #applyTimeout: () => number;

  /** @param applyTimeout Milliseconds, looked at for each apply. */
  constructor(endpoint: AgentEndpoint, applyTimeout: () => number) {
    this.#connections = new AgentConnections(endpoint, ANSWER_LIMIT);
    this.#tokenFile = endpoint.tokenFile;
    this.#applyTimeout = applyTimeout;
  }

  async state(request: StateRequest, signal: AbortSignal): Promise<AgentState> {
    const query: Record<string, string | number> = {
      plan: Number(request.plan),
      // Thousands of digests that nobody reads: an apply that lacks something says so.
      files: 0,
      verify: Number(request.verify ?? false),
      ...(request.health === true && { health: 1 }),
      ...(request.after !== undefined && {
        after: request.after.generation,
        worker: request.after.worker,
        waitMs: request.after.waitMs,
      }),
    };
    const timeoutMs = 30_000 + (request.after?.waitMs ?? 0);
    const { status, body } = await this.#call({ method: 'GET', path: '/v1/state', query }, timeoutMs, signal);
    if (status !== 200) throw new AgentUnreachable(`state: ${errorText(status, body)}`);
    return parse(stateSchema, body);
  }

  async apply(message: string, signal: AbortSignal): Promise<ApplyReply> {
    const timeoutMs = this.#applyTimeout() + 5_000;
    const { status, body } = await this.#call(
      { method: 'POST', path: '/v1/apply', body: message },
      timeoutMs,
      signal,
    );
    if (status === 200) return { kind: 'answer', answer: parse(applyAnswerSchema, body) };
    if (status === 409) return { kind: 'conflict', conflict: parse(conflictSchema, body) };
    if (status === 413) return { kind: 'too_large', message: errorText(status, body) };
    if (status === 422) return { kind: 'broken', message: errorText(status, body) };
    throw new AgentUnreachable(`apply: ${errorText(status, body)}`);
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }

  async #call(
    options: Pick<Dispatcher.RequestOptions, 'method' | 'path' | 'query' | 'body'>,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<AgentResponse> {
    try {
      return await this.#connections.request({
        ...options,
        headers: {
          ...(this.#tokenFile !== undefined && {
            authorization: `Bearer ${readFileSync(this.#tokenFile, 'utf8').trim()}`,
          }),
          ...(options.body !== undefined && { 'content-type': 'application/json' }),
        },
        headersTimeout: timeoutMs,
        bodyTimeout: 30_000,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw new AgentUnreachable(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }
}

function parse<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new AgentUnreachable(`not an answer of this protocol: ${parsed.error.issues[0]?.message ?? ''}`);
}

function errorText(status: number, body: unknown): string {
  const answer = errorAnswerSchema.safeParse(body);
  const words = answer.success ? [answer.data.error, ...(answer.data.problems ?? [])].join('; ') : 'no words';
  return `${status}: ${words.slice(0, 4_096)}`;
}
