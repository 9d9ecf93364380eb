import type { Order } from './order.ts';

/** What one deployment to one pod has learnt from its conflicts so far. */
export class ApplyAttempt {
  readonly order: Order;
  readonly missing = new Set<string>();
  token: { readonly epoch: number; readonly seq: number } | undefined;
  expect: string | null = null;
  /** Load everything, whatever the plan says. */
  full = false;
  sendAll = false;
  outbid = false;

  constructor(order: Order) {
    this.order = order;
  }
}
