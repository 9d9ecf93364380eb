/** What the other side does not speak. */
export type Mismatch =
  /** It ended the connection instead of answering plain HTTP, as one that expects TLS does. */
  | 'expects_tls'
  /** What it said is not TLS. */
  | 'speaks_no_tls';

const ENDED = ['ECONNRESET', 'UND_ERR_SOCKET'];
const NO_TLS = ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO'];

/** Whether a connection failed since one side speaks TLS and the other does not: a port is never both. */
export function connectionMismatch(error: unknown, isSecure: boolean): Mismatch | undefined {
  if (!isSecure) return hasCode(error, ENDED) ? 'expects_tls' : undefined;
  return hasCode(error, NO_TLS) ? 'speaks_no_tls' : undefined;
}

/** Of the error itself, or of what caused it. */
export function hasCode(error: unknown, codes: readonly unknown[]): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && codes.includes(error.code)) || hasCode(error.cause, codes);
}
