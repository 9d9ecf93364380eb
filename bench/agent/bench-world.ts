import { pemFor } from '../../test/agent/certificates.ts';
import type { World } from '../../test/agent/world.ts';

export const BODY = 'balance roundrobin\n';

export const name = (index: number): string => `b${index}`;
export const certificateOf = (index: number): string => name(index);

const route = { body: BODY, servers: { s: { port: 1 } } };

/** So many backends, each with a host and the host's own certificate. */
export async function benchWorld(size: number): Promise<World> {
  const pem = await pemFor('bench.test');
  const names = Array.from({ length: size }, (_, index) => name(index));
  return {
    backends: Object.fromEntries(names.map((backend) => [backend, route])),
    hosts: Object.fromEntries(names.map((backend) => [`${backend}.test`, backend])),
    // Making thousands of keys would take longer than the bench: the same one, in files that differ.
    certificates: Object.fromEntries(names.map((backend) => [backend, pemOf(pem, backend)])),
    crtLines: names.map((backend) => ({ certificate: backend, options: '', sni: [`${backend}.test`] })),
  };
}

/** OpenSSL reads past what stands between the blocks. */
export function pemOf(pem: string, comment: string): string {
  return `${pem}# ${comment}\n`;
}
