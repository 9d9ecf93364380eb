import { Agent, request, type Dispatcher } from 'undici';
import { AddressRules } from './addresses.ts';
import { readText } from './body.ts';
import { guardedConnector, type Lookup } from './connector.ts';
import { FetchFailure, forbidden } from './failure.ts';
import { HostRules } from './hosts.ts';
import { parseUrl, redacted } from './url.ts';

/** What a server gave to ask with the next time, and which URL it belongs to. */
export interface Validators {
  readonly url: string;
  readonly etag?: string;
  readonly lastModified?: string;
}

export type Fetched =
  | { readonly kind: 'content'; readonly text: string; readonly validators: Validators }
  | { readonly kind: 'unchanged' };

export interface FetchLimits {
  readonly timeoutMs: number;
  /** Bytes. */
  readonly maxSize: number;
}

export interface FetcherOptions {
  readonly allowHosts: readonly string[];
  readonly allowAddresses: readonly string[];
  readonly userAgent: string;
  readonly lookup?: Lookup | undefined;
}

const MOST_REDIRECTS = 5;
const CONNECT_TIMEOUT_MS = 5_000;
const LONGEST_RETRY_AFTER_S = 3_600;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Gets contents, from where the operator allows and nowhere else. */
export class Fetcher {
  readonly #hosts: HostRules;
  readonly #addresses: AddressRules;
  readonly #options: FetcherOptions;

  constructor(options: FetcherOptions) {
    this.#options = options;
    this.#hosts = new HostRules(options.allowHosts);
    this.#addresses = new AddressRules(options.allowAddresses);
  }

  /**
   * One attempt, redirects included.
   *
   * @param known Of the content that is at hand; where the server still has the same the answer is `unchanged`.
   * @throws FetchFailure, whatever goes wrong; the signal's reason when it aborts.
   */
  async fetch(
    url: URL,
    limits: FetchLimits,
    known: Validators | undefined,
    signal: AbortSignal,
  ): Promise<Fetched> {
    const timeUp = AbortSignal.timeout(limits.timeoutMs);
    // Connections are not kept: who is asked seldom is looked up and checked anew every time.
    const dispatcher = new Agent({
      allowH2: false,
      connect: guardedConnector(this.#addresses, {
        timeoutMs: CONNECT_TIMEOUT_MS,
        lookup: this.#options.lookup,
      }),
    });
    try {
      return await this.#follow(url, limits, known, {
        dispatcher,
        signal: AbortSignal.any([signal, timeUp]),
      });
    } catch (error) {
      signal.throwIfAborted();
      if (timeUp.aborted) throw new FetchFailure(`no complete answer within ${limits.timeoutMs / 1_000} s`);
      throw asFailure(error);
    } finally {
      await dispatcher.destroy();
    }
  }

  async #follow(
    start: URL,
    { maxSize }: FetchLimits,
    known: Validators | undefined,
    using: { readonly dispatcher: Dispatcher; readonly signal: AbortSignal },
  ): Promise<Fetched> {
    let url = start;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      this.#check(url);
      const conditions = known?.url === url.href ? conditionsOf(known) : {};
      const answer = await this.#ask(url, conditions, using);
      const { statusCode, headers } = answer;
      if (statusCode === 200) {
        return {
          kind: 'content',
          text: await readText(answer, maxSize),
          validators: validatorsOf(url, headers),
        };
      }
      discard(answer);
      if (statusCode === 304 && Object.keys(conditions).length > 0) return { kind: 'unchanged' };
      if (!REDIRECTS.has(statusCode)) throw refusal(statusCode, headers);
      url = target(url, headers['location']);
    }
    throw new FetchFailure(`more than ${MOST_REDIRECTS} redirects`);
  }

  #check(url: URL): void {
    if (this.#hosts.allows(url.hostname)) return;
    throw forbidden(`the host ${url.hostname} is not in \`allowHosts\` of the plugin http-store`);
  }

  #ask(
    url: URL,
    conditions: Readonly<Record<string, string>>,
    { dispatcher, signal }: { readonly dispatcher: Dispatcher; readonly signal: AbortSignal },
  ): Promise<Dispatcher.ResponseData> {
    return request(url, {
      dispatcher,
      signal,
      headers: {
        'user-agent': this.#options.userAgent,
        // What is compressed is small on the wire only.
        'accept-encoding': 'identity',
        ...conditions,
      },
    });
  }
}

function conditionsOf({ etag, lastModified }: Validators): Record<string, string> {
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
  };
}

/** Servers take shorter headers than they send: a longer one would make every later attempt fail. */
const LONGEST_VALIDATOR = 1_024;

function validatorsOf(url: URL, headers: Dispatcher.ResponseData['headers']): Validators {
  const { etag, 'last-modified': lastModified } = headers;
  return {
    url: url.href,
    ...(isShort(etag) && { etag }),
    ...(isShort(lastModified) && { lastModified }),
  };
}

function isShort(header: string | string[] | undefined): header is string {
  return typeof header === 'string' && header.length <= LONGEST_VALIDATOR;
}

function target(from: URL, location: string | string[] | undefined): URL {
  const to = typeof location === 'string' ? URL.parse(location, from.href) : null;
  if (to === null) throw new FetchFailure('a redirect without a usable location');
  let url: URL;
  try {
    url = parseUrl(to.href);
  } catch (error) {
    throw forbidden(`a redirect that is not followed: ${(error as Error).message}`);
  }
  if (from.protocol === 'https:' && url.protocol === 'http:') {
    throw forbidden(`a redirect from https to ${redacted(url)} is not followed`);
  }
  return url;
}

function refusal(status: number, headers: Dispatcher.ResponseData['headers']): FetchFailure {
  const seconds = secondsOf(headers['retry-after']);
  const wait = seconds > 0 ? Math.min(seconds, LONGEST_RETRY_AFTER_S) * 1_000 : undefined;
  return new FetchFailure(`the server answered ${status}`, { retryAfterMs: wait });
}

/** Servers name a number or a moment. */
function secondsOf(retryAfter: string | string[] | undefined): number {
  if (typeof retryAfter !== 'string') return NaN;
  return /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1_000;
}

/** Nobody reads it; the connection goes with the dispatcher. */
function discard({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => {});
  body.destroy();
}

function asFailure(error: unknown): FetchFailure {
  if (error instanceof FetchFailure) return error;
  if (error instanceof Error && error.cause instanceof FetchFailure) return error.cause;
  const message = error instanceof AggregateError ? error.errors.map(String).join('; ') : String(error);
  return new FetchFailure(message, { cause: error });
}
