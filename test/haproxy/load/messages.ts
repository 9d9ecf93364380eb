import type { ClientOptions } from './client.ts';

/** So many clients, each with one request in flight and `everyMs` from one start to the next. */
export interface ClientGroup extends ClientOptions {
  readonly clients: number;
  readonly everyMs: number;
}

export interface LoadReport {
  readonly requests: number;
  readonly failed: number;
  /** One line for each failure, the first 100 of them. */
  readonly failures: readonly string[];
  readonly perSecond: number;
}

export type Order =
  | { readonly order: 'open-origin'; readonly delayMs: number }
  | { readonly order: 'close-origin'; readonly port: number }
  | { readonly order: 'start'; readonly groups: readonly ClientGroup[] }
  | { readonly order: 'report' }
  /** Lets the requests in flight finish. */
  | { readonly order: 'stop' };

export interface Done {
  readonly port?: number;
  readonly report?: LoadReport;
}
