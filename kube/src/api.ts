import type { KubeConfig } from '@kubernetes/client-node';
import { Cancelled, Retry } from '@haptic/core/contract';
import type { Readable } from 'node:stream';
import { request } from 'undici';
import { parseRetryAfter, statusError } from './api-error.ts';
import { CredentialSource } from './credentials.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface ApiRequest {
  readonly method?: Method;
  /** Absolute, without the query: `/api/v1/namespaces`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Until the whole answer is there, for a stream until its head is. Milliseconds. */
  readonly timeout?: number;
}

export interface ApiAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed; undefined when there is none. */
  readonly body: unknown;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** Requests to one API server, with raw JSON in and out: no field is dropped or turned into something else. */
export class KubeApi {
  readonly #server: string;
  readonly #credentials: CredentialSource;
  readonly #closed = new AbortController();
  /** The namespace of the kubeconfig's context. */
  readonly namespace: string | undefined;

  constructor(config: KubeConfig) {
    this.#server = (config.getCurrentCluster()?.server ?? '').replace(/\/+$/, '');
    this.namespace = config.getContextObject(config.getCurrentContext())?.namespace;
    this.#credentials = new CredentialSource(config);
  }

  /**
   * The parsed body of a successful answer; undefined when it has none.
   * @throws ApiError when the server refuses
   * @throws Retry when there is no whole answer
   * @throws Cancelled when the signal aborts, or the client is closed
   */
  async json(call: ApiRequest): Promise<unknown> {
    return (await this.answer(call)).body;
  }

  /** As `json`, with status and headers. */
  async answer(call: ApiRequest): Promise<ApiAnswer> {
    using deadline = new Deadline(call, this.#closed.signal);
    return await guard(call, deadline, async () => {
      const { statusCode, headers, body } = await this.#send(call, deadline.signal);
      const text = await body.text();
      if (statusCode >= 400) throw refusal(call, statusCode, headers, text);
      return { code: statusCode, headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
    });
  }

  /** The open body of a successful answer; destroying it ends the request. Failures are those of `json`. */
  async stream(call: ApiRequest): Promise<Readable> {
    using deadline = new Deadline(call, this.#closed.signal);
    return await guard(call, deadline, async () => {
      const { statusCode, headers, body } = await this.#send(call, deadline.signal);
      if (statusCode >= 400) throw refusal(call, statusCode, headers, await body.text());
      return body;
    });
  }

  /** Ends everything that still runs, watches too, and lets nothing begin. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#credentials.close();
  }

  async #send(call: ApiRequest, signal: AbortSignal) {
    const { headers, dispatcher } = await this.#credentials.current();
    const url = new URL(this.#server + call.path);
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    return request(url, {
      method: call.method ?? 'GET',
      dispatcher,
      signal,
      headers: {
        accept: 'application/json',
        'user-agent': 'haptic',
        ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
        ...headers,
        ...call.headers,
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    });
  }
}

/** Aborts at the caller's signal, when the client is closed, or after the call's time; for a stream the time ends with the head of the answer. */
class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly signal: AbortSignal;
  /** By the caller or by the end of the client, not by the clock. */
  readonly calledOff: AbortSignal;
  expired = false;

  constructor({ signal, timeout = DEFAULT_TIMEOUT_MS }: ApiRequest, closed: AbortSignal) {
    this.calledOff = signal === undefined ? closed : AbortSignal.any([signal, closed]);
    this.#timer = setTimeout(() => {
      this.expired = true;
      this.#controller.abort();
    }, timeout);
    this.signal = AbortSignal.any([this.calledOff, this.#controller.signal]);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/** Tells apart who ended a call: the server by a verdict, the caller, the clock or the network. */
async function guard<T>(call: ApiRequest, deadline: Deadline, work: () => Promise<T>): Promise<T> {
  const name = `${call.method ?? 'GET'} ${call.path}`;
  try {
    deadline.calledOff.throwIfAborted();
    return await work();
  } catch (error) {
    if (deadline.calledOff.aborted) throw new Cancelled(`${name} was cancelled`, { cause: error });
    if (deadline.expired) throw new Retry(`${name}: no answer in time`, { cause: error });
    if (error instanceof Error && error.name === 'ApiError') throw error;
    throw new Retry(`${name}: ${networkWords(error)}`, { cause: error });
  }
}

function networkWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === '' && 'code' in error ? String(error.code) : error.message;
}

function refusal(call: ApiRequest, code: number, headers: ApiAnswer['headers'], text: string): Error {
  const header = headers['retry-after'];
  const retryAfter = parseRetryAfter(typeof header === 'string' ? header : undefined, Date.now());
  return statusError(statusOf(text), code, `${call.method ?? 'GET'} ${call.path}`, retryAfter);
}

/** A proxy's page is no Status: its first words are the message. */
function statusOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { message: text.slice(0, 200) };
  }
}
