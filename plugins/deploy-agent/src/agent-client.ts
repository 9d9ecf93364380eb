import { readFileSync } from 'node:fs';
import { Pool, type Dispatcher } from 'undici';
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

/** Where an agent listens. */
export interface AgentEndpoint {
  readonly name: string;
  readonly url?: string | undefined;
  readonly socketPath?: string | undefined;
  readonly tokenFile: string;
}

/** The agent did not answer, or with something that is no answer: what it did is not known. */
export class AgentUnreachable extends Error {
  override readonly name = 'AgentUnreachable';
}

/** A typed reply to an apply. `broken`: the agent will not take this message, however often. */
export type ApplyReply =
  | { readonly kind: 'answer'; readonly answer: ApplyAnswer }
  | { readonly kind: 'conflict'; readonly conflict: Conflict }
  | { readonly kind: 'broken'; readonly message: string };

export interface StateRequest {
  readonly plan: boolean;
  readonly verify?: boolean;
  /** Hold the answer until something else than this is to be said. */
  readonly after?: { readonly generation: number; readonly worker: number; readonly waitMs: number };
}

const ANSWER_LIMIT = 1.5 * LIMITS.plan;

/** Speaks the agent's protocol and trusts nothing that comes back: sizes are capped, shapes checked. */
export class AgentClient {
  readonly #client: Pool;
  readonly #tokenFile: string;
  readonly #applyTimeout: number;

  constructor(endpoint: AgentEndpoint, applyTimeout: number) {
    const { url = 'http://agent', socketPath } = endpoint;
    this.#client = new Pool(url, {
      ...(socketPath !== undefined && { socketPath }),
      connect: { timeout: 5_000 },
      maxResponseSize: ANSWER_LIMIT,
      // A long poll must not hold up an apply, nor that the state after it.
      connections: 4,
      pipelining: 1,
    });
    this.#tokenFile = endpoint.tokenFile;
    this.#applyTimeout = applyTimeout;
  }

  async state(request: StateRequest, signal: AbortSignal): Promise<AgentState> {
    const query: Record<string, string | number> = {
      plan: Number(request.plan),
      verify: Number(request.verify ?? false),
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
    const timeoutMs = this.#applyTimeout + 5_000;
    const { status, body } = await this.#call(
      { method: 'POST', path: '/v1/apply', body: message },
      timeoutMs,
      signal,
    );
    if (status === 200) return { kind: 'answer', answer: parse(applyAnswerSchema, body) };
    if (status === 409) return { kind: 'conflict', conflict: parse(conflictSchema, body) };
    if (status === 413 || status === 422) return { kind: 'broken', message: errorText(status, body) };
    throw new AgentUnreachable(`apply: ${errorText(status, body)}`);
  }

  async close(): Promise<void> {
    await this.#client.destroy();
  }

  async #call(
    options: Pick<Dispatcher.RequestOptions, 'method' | 'path' | 'query' | 'body'>,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    try {
      const response = await this.#client.request({
        ...options,
        headers: {
          authorization: `Bearer ${readFileSync(this.#tokenFile, 'utf8').trim()}`,
          ...(options.body !== undefined && { 'content-type': 'application/json' }),
        },
        headersTimeout: timeoutMs,
        bodyTimeout: 30_000,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      return { status: response.statusCode, body: await response.body.json() };
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
