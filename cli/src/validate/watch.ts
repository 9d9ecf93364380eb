import { setTimeout as delay } from 'node:timers/promises';
import { Cancelled } from '@haptic/core/contract';
import { EXIT, reportFailure, type ExitCode } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

/** Editors write a file in several steps. */
const SETTLE_MS = 100;

export interface Watched {
  readonly run: () => Promise<ExitCode>;
  /** Tells when what `run` looks at may be another. */
  readonly onChange: (listener: () => void) => void;
  readonly signal: AbortSignal;
}

/** Signals that may be given before anybody waits for one. */
class Bell {
  #rung = false;
  #waiting: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#waiting?.();
  }

  /** Until the next one, or the one that came meanwhile. */
  async next(): Promise<void> {
    if (!this.#rung) await new Promise<void>((resolve) => (this.#waiting = resolve));
    this.#waiting = undefined;
    this.#rung = false;
  }
}

async function settle(signal: AbortSignal): Promise<void> {
  await delay(SETTLE_MS, undefined, { signal }).catch(() => undefined);
}

/** Runs now and after every change until the signal aborts. Gives the last answer that there was. */
export async function runOnChanges(
  { run, onChange, signal }: Watched,
  terminal: Terminal,
): Promise<ExitCode> {
  const bell = new Bell();
  onChange(() => bell.ring());
  signal.addEventListener('abort', () => bell.ring(), { once: true });
  let last: ExitCode = EXIT.fine;
  while (!signal.aborted) {
    terminal.clear?.();
    try {
      last = await run();
    } catch (error) {
      if (error instanceof Cancelled) break;
      last = reportFailure(error, terminal);
    }
    terminal.err('waiting for changes');
    await bell.next();
    await settle(signal);
  }
  return last;
}
