import { constants } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import { z } from 'zod';
import type { Credentials } from '@haptic/core/tls';

/** What a controller's certificate is told by, and an agent's. */
export const CONTROLLER_NAME = 'haptic-controller';
export const AGENT_NAME = 'haptic-agent';

const dnsName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i, 'expected a DNS name');

/** TLS of the agent's side: PEM files, read anew when they change. */
export const serverTlsSchema = z.strictObject({
  cert: z.string().min(1),
  key: z.string().min(1),
  ca: z.string().min(1),
  /** The DNS name that a client's certificate must have. */
  controllerName: dnsName.default(CONTROLLER_NAME),
});
export type ServerTls = z.input<typeof serverTlsSchema>;

/**
 * TLS 1.3 and nothing else. No session tickets: with one a client could go on when its authority is not trusted any more.
 */
export function contextOptions({ cert, key, ca }: Credentials): SecureContextOptions {
  return { cert, key, ca, minVersion: 'TLSv1.3', secureOptions: constants.SSL_OP_NO_TICKET };
}
