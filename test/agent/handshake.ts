import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { KeyPair } from '../cluster/certificates.ts';

/** Fingerprint of what is served to one who asks for this name and shows this certificate; `refused` where HAProxy ends it. */
export async function handshake(port: number, servername: string, client?: KeyPair): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const call = request({
    // Answered by HAProxy itself: no server is waited for.
    host: '127.0.0.1',
    port,
    servername,
    path: '/fixed',
    agent: false,
    rejectUnauthorized: false,
    ...(client !== undefined && { cert: client.cert, key: client.key }),
  });
  call.once('response', (response) => {
    resolve((response.socket as TLSSocket).getPeerCertificate().fingerprint);
    response.destroy();
  });
  call.once('error', (error: NodeJS.ErrnoException) => {
    const isAlert = error.code === 'ECONNRESET' || error.code?.startsWith('ERR_SSL') === true;
    if (isAlert) resolve('refused');
    else reject(error);
  });
  call.end();
  return promise;
}
