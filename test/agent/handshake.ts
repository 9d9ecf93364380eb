import { connect } from 'node:tls';
import type { KeyPair } from '../cluster/certificates.ts';

/** Answered by HAProxy itself: no server is waited for. */
const REQUEST = 'GET /fixed HTTP/1.1\r\nhost: fixed\r\nconnection: close\r\n\r\n';
/** How a client of HTTP/2 begins: the preface, and settings without any. */
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0';

/**
 * Fingerprint of what is served to one who asks for this name and shows this certificate, and the protocol that is agreed on;
 * `refused` where HAProxy ends it.
 */
export function handshake(port: number, servername: string, client?: KeyPair): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({
    host: '127.0.0.1',
    port,
    servername,
    rejectUnauthorized: false,
    ALPNProtocols: ['h2', 'http/1.1'],
    ...(client !== undefined && { cert: client.cert, key: client.key }),
  });
  let served = '';
  socket.once('secureConnect', () => {
    const protocol = socket.alpnProtocol === false ? 'none' : socket.alpnProtocol;
    served = `${socket.getPeerCertificate().fingerprint} ${protocol}`;
    socket.write(protocol === 'h2' ? PREFACE : REQUEST);
  });
  // A certificate is refused only after the handshake.
  socket.once('data', () => resolve(served));
  socket.once('end', () => resolve('refused'));
  socket.once('error', (error: NodeJS.ErrnoException) => {
    const isAlert = error.code === 'ECONNRESET' || error.code?.startsWith('ERR_SSL') === true;
    if (isAlert) resolve('refused');
    else reject(error);
  });
  return promise.finally(() => socket.destroy());
}
