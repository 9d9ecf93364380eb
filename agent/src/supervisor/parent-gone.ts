import type { Readable } from 'node:stream';

/** Standard input, which can be waited for without keeping the process alive. */
type Input = Readable & { unref?(): unknown };

/**
 * Aborted when the other end of `input` (our standard input) is closed: a parent that holds it need not be able to say goodbye,
 * a killed one closes it too.
 */
export function parentGone(input: Input): AbortSignal {
  const gone = new AbortController();
  const end = (): void => gone.abort();
  input.once('end', end);
  input.once('close', end);
  input.once('error', end);
  input.resume();
  input.unref?.();
  return gone.signal;
}
