import { constants } from 'node:os';
import { Cancelled } from '../contract/errors.ts';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export interface StopSignal extends Disposable {
  /** Aborted by the first SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
}

/** Listens until it is disposed. The first signal asks for an orderly stop, a second one ends the process at once. */
export function stopSignal(): StopSignal {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(128 + constants.signals[name]);
    stop.abort(new Cancelled(`stopped by ${name}`));
  };
  for (const name of STOP_SIGNALS) process.on(name, onSignal);
  return {
    signal: stop.signal,
    [Symbol.dispose]() {
      for (const name of STOP_SIGNALS) process.off(name, onSignal);
    },
  };
}
