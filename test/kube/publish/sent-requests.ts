import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { onCleanup } from '../../haproxy/cleanup.ts';

interface UndiciRequest {
  readonly origin: string | URL;
  readonly method: string;
  readonly path: string;
}

interface Sent {
  readonly request: UndiciRequest;
  readonly response?: { readonly statusCode: number };
}

const CHANNELS = {
  tried: 'undici:request:create',
  begun: 'undici:client:sendHeaders',
  written: 'undici:request:bodySent',
  answered: 'undici:request:headers',
  failed: 'undici:request:error',
} as const;

/** The requests of this process to one port, watches not counted. */
export class SentRequests {
  /** Also those that find nobody. */
  tried = 0;
  failed = 0;
  /** By status. */
  readonly answers = new Map<number, number>();
  /** Called for each change with its method and path, before and after it is given to the network. */
  onWrite: { readonly begun?: (what: string) => void; readonly written?: (what: string) => void } = {};

  /** Ends with the test. */
  static to(port: number): SentRequests {
    const sent = new SentRequests();
    const of = (listen: (message: Sent, what: string) => void) => (message: unknown) => {
      const { request } = message as Sent;
      const isOther = new URL(String(request.origin)).port !== String(port);
      if (!isOther && !request.path.includes('watch=')) listen(message as Sent, words(request));
    };
    const isWrite = (what: string): boolean => !what.startsWith('GET ');
    const listeners = {
      tried: of(() => (sent.tried += 1)),
      begun: of((_, what) => void (isWrite(what) && sent.onWrite.begun?.(what))),
      written: of((_, what) => void (isWrite(what) && sent.onWrite.written?.(what))),
      answered: of(({ response }) => sent.#answered(response?.statusCode ?? 0)),
      failed: of(() => (sent.failed += 1)),
    };
    const names = Object.keys(CHANNELS) as (keyof typeof CHANNELS)[];
    for (const name of names) subscribe(CHANNELS[name], listeners[name]);
    onCleanup(() => {
      for (const name of names) unsubscribe(CHANNELS[name], listeners[name]);
    });
    return sent;
  }

  #answered(status: number): void {
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
  }
}

function words({ method, path }: UndiciRequest): string {
  return `${method} ${path.replace(/\?.*/, '')}`;
}
