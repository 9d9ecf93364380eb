import { chmodSync, lstatSync } from 'node:fs';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { Refused } from '@haptic/core/contract';
import { unlinkIfThere } from '../files/durable.ts';
import { makeFolder } from '../files/make-folder.ts';
import { SOCKET_PATH_LIMIT } from '../protocol/index.ts';

/** Where a server listens. Without TLS only this machine may reach it. */
export type ListenAddress =
  { readonly socketPath: string } | { readonly host: string; readonly port: number };

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;

/** @throws Refused for an address that others could reach without TLS: applies carry private keys. */
export function checkAddress(address: ListenAddress, hasTls: boolean): void {
  if ('socketPath' in address) {
    const { socketPath } = address;
    if (hasTls) refuse(socketPath, 'a unix socket needs no TLS; leave out the certificates');
    if (Buffer.byteLength(socketPath) > SOCKET_PATH_LIMIT)
      refuse(socketPath, `is too long for a socket, expected at most ${SOCKET_PATH_LIMIT} bytes`);
    return;
  }
  const { host } = address;
  // It stands for two addresses, and only one of the servers would follow its certificates.
  if (hasTls && host === 'localhost') refuse(host, 'expected an address with TLS, e.g. 127.0.0.1 or 0.0.0.0');
  if (hasTls || LOOPBACK.test(host)) return;
  refuse(
    host,
    'is not a loopback address: without TLS expected 127.0.0.1, ::1 or a unix socket, else a certificate, its key and the authorities to trust',
  );
}

function refuse(where: string, message: string): never {
  throw new Refused([{ where, message }]);
}

/** Starts listening; answers where, with the port that was chosen for port 0. */
export async function listen(server: FastifyInstance, address: ListenAddress): Promise<ListenAddress> {
  if ('socketPath' in address) {
    // Whoever starts first makes the folder that the two programs of a pod share.
    makeFolder(dirname(address.socketPath), 0o777);
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
  if (answered) refuse(path, 'another process listens on this socket');
  // Whatever else is there is somebody's.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === false)
    refuse(path, 'is there and no socket');
  unlinkIfThere(path);
}
