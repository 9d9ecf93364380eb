import { hash } from 'node:crypto';

/** The digest that plans and configurations are built with, by the platform. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}
