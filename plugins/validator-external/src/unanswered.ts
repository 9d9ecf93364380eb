/** A validator gave no verdict. The message says why, as what it did: `closed the connection …`. */
export class Unanswered extends Error {
  override readonly name: string = 'Unanswered';
}

/** The reason of an abort with more words, where it is that nobody answered. */
export function adding(words: string, reason: unknown): unknown {
  return reason instanceof Unanswered ? new Unanswered(reason.message + words, { cause: reason }) : reason;
}

/** The transport failed. Where the connection had been used before, the validator may have closed it in good faith. */
export class ConnectionLost extends Unanswered {
  override readonly name = 'ConnectionLost';
}
