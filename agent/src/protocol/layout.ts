import { join } from 'node:path';

/** Where everything stands that the agent, the supervisor and HAProxy share. */
export interface Layout {
  readonly baseDir: string;
  readonly masterSocket: string;
  /** The worker's `stats socket`; the configuration must declare it. */
  readonly workerSocket: string;
  /** What the supervisor started. */
  readonly startRecord: string;
  /** The one bind of the bootstrap configuration that is always there. */
  readonly bootstrapSocket: string;
}

/** Socket addresses hold 107 bytes and a terminator. */
export const SOCKET_PATH_LIMIT = 107;

/** @throws RangeError when a socket's path would not fit into a socket address. */
export function layout(baseDir: string, socketDir: string): Layout {
  const paths = {
    baseDir,
    masterSocket: join(socketDir, 'master.sock'),
    workerSocket: join(socketDir, 'worker.sock'),
    startRecord: join(socketDir, 'haproxy.json'),
    bootstrapSocket: join(socketDir, 'bootstrap.sock'),
  };
  if (Buffer.byteLength(paths.bootstrapSocket) > SOCKET_PATH_LIMIT) {
    throw new RangeError(
      `${socketDir}: too long for socket paths, expected at most ${SOCKET_PATH_LIMIT} bytes in all`,
    );
  }
  return paths;
}
