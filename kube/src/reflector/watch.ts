import { Cancelled, Retry, type Clock } from '@haptic/core/contract';
import { z } from 'zod';
import type { KubeApi } from '../api.ts';
import { statusError } from '../api-error.ts';
import { jsonLines } from './json-lines.ts';

const WatchEvent = z.object({
  type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']),
  object: z.looseObject({}),
});
export type WatchEvent = z.output<typeof WatchEvent>;

export interface WatchRequest {
  readonly path: string;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly resourceVersion: string;
  /** After this the server ends the watch. */
  readonly seconds: number;
  /** Without a byte for this long the connection counts as dead; bookmarks come about every minute. Milliseconds. */
  readonly inactivity: number;
  /** For the head of the answer. Milliseconds. */
  readonly timeout: number;
  /** The server has taken it. */
  readonly opened: () => void;
}

/**
 * One connection of a watch: events in the batches they arrive in, until the server ends it.
 * @throws ApiError for a refusal, also one inside of the stream
 * @throws Retry when the connection breaks or is silent for too long
 * @throws SyntaxError when what arrives is no event
 * @throws Cancelled when the signal aborts
 */
export async function* watchOnce(
  api: KubeApi,
  request: WatchRequest,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchEvent[]> {
  const { path, labelSelector, fieldSelector, resourceVersion, timeout } = request;
  const query = {
    labelSelector,
    fieldSelector,
    resourceVersion,
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(request.seconds),
  };
  const body = await api.stream({ path, query, timeout, signal });
  request.opened();
  const silence = new SilenceTimer(request.inactivity, clock, (error) => body.destroy(error));
  try {
    for await (const values of jsonLines(silence.observe(body))) {
      yield values.map((value) => parseEvent(value, path));
    }
  } catch (error) {
    throw failureOf(error, path, signal);
  } finally {
    silence.stop();
    body.destroy();
  }
}

function parseEvent(value: unknown, path: string): WatchEvent {
  const parsed = WatchEvent.safeParse(value);
  if (!parsed.success) throw new SyntaxError(`watch of ${path}: ${z.prettifyError(parsed.error)}`);
  if (parsed.data.type === 'ERROR') throw statusError(parsed.data.object, 500, `watch of ${path}`);
  return parsed.data;
}

function failureOf(error: unknown, path: string, signal: AbortSignal): unknown {
  if (signal.aborted) return new Cancelled(`watch of ${path} was cancelled`, { cause: error });
  if (!(error instanceof Error)) return new Retry(`watch of ${path}: ${String(error)}`);
  if (error.name === 'ApiError' || error instanceof SyntaxError || error instanceof Retry) return error;
  return new Retry(`watch of ${path}: ${error.message}`, { cause: error });
}

/** Ends a connection that a firewall or a stopped server left open without a word. */
class SilenceTimer {
  readonly #limit: number;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  #heard: number;

  constructor(limit: number, clock: Clock, expire: (error: Error) => void) {
    this.#limit = limit;
    this.#clock = clock;
    this.#heard = clock.now();
    this.#run(expire).catch(() => undefined);
  }

  async *observe(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.#heard = this.#clock.now();
      yield chunk;
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(expire: (error: Error) => void): Promise<void> {
    for (;;) {
      const left = this.#heard + this.#limit - this.#clock.now();
      if (left <= 0) return expire(new Retry(`silent for ${this.#limit} ms`));
      await this.#clock.sleep(left, this.#stop.signal);
    }
  }
}
