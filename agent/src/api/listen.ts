import { chmodSync } from 'node:fs';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Refused } from '@haptic/core/contract';
import { unlinkIfThere } from '../files/durable.ts';

/** Where a server listens. Without TLS only this machine may reach it. */
export type ListenAddress =
  { readonly socketPath: string } | { readonly host: string; readonly port: number };

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;

/** @throws Refused for an address that others could reach: applies carry private keys. */
export function checkAddress(address: ListenAddress): void {
  if ('socketPath' in address || LOOPBACK.test(address.host)) return;
  const message = 'is not a loopback address; expected 127.0.0.1, ::1 or a unix socket';
  throw new Refused([{ where: address.host, message }]);
}

/** Starts listening; answers where, with the port that was chosen for port 0. */
export async function listen(server: FastifyInstance, address: ListenAddress): Promise<ListenAddress> {
  if ('socketPath' in address) {
    await removeStaleSocket(address.socketPath);
    await server.listen({ path: address.socketPath });
    chmodSync(address.socketPath, 0o600);
    return address;
  }
  await server.listen({ host: address.host, port: address.port });
  return { host: address.host, port: (server.server.address() as AddressInfo).port };
}

/** The socket of a killed predecessor is in the way; that of a living one is an error. */
async function removeStaleSocket(path: string): Promise<void> {
  const answered = await new Promise<boolean>((resolve) => {
    const socket = connect({ path });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
  if (answered) throw new Refused([{ where: path, message: 'another process listens on this socket' }]);
  unlinkIfThere(path);
}
