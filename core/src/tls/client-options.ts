import { X509Certificate } from 'node:crypto';
import type { ConnectionOptions, PeerCertificate } from 'node:tls';
import { hasName, type Credentials } from './credentials.ts';

export type ClientTlsOptions = Pick<
  ConnectionOptions,
  'cert' | 'key' | 'ca' | 'minVersion' | 'rejectUnauthorized' | 'servername' | 'checkServerIdentity'
>;

/** Of a client that shows what it has, and speaks only to a server with this DNS name, wherever that is. */
export function clientTlsOptions({ cert, key, ca }: Credentials, serverName: string): ClientTlsOptions {
  return {
    cert,
    key,
    ca,
    minVersion: 'TLSv1.3',
    rejectUnauthorized: true,
    servername: serverName,
    checkServerIdentity: (_host: string, { raw }: PeerCertificate) => nameProblem(raw, serverName),
  };
}

/** Node's own check takes wildcards, and a common name where there are no other names. */
function nameProblem(raw: Buffer, serverName: string): Error | undefined {
  const certificate = new X509Certificate(raw);
  if (hasName(certificate, serverName)) return undefined;
  const names = certificate.subjectAltName ?? 'no names';
  return new Error(`expected a certificate with the DNS name "${serverName}", the server's has ${names}`);
}
