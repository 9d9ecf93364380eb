import { z } from '@haptic/core/contract';

/** Where the server listens, with the port that was chosen for port 0. */
export interface Listening {
  readonly host: string;
  readonly port: number;
}

export const options = z.strictObject({
  /** All interfaces, so that Prometheus reaches it. */
  host: z.string().min(1).default('0.0.0.0'),
  port: z.int().min(0).max(65_535).default(9090),
  onListening: z.custom<(address: Listening) => void>((value) => typeof value === 'function').optional(),
});
