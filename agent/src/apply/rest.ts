/** Without an apply for so long, milliseconds, the agent is at rest. */
const CALM_MS = 1_000;

/** Gives back what applies took, once they have stopped: Node.js by itself keeps it. Only where it lets us (`--expose-gc`). */
export class Rest {
  #timer: NodeJS.Timeout | undefined;

  begin(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => collect?.({ type: 'major', flavor: 'last-resort' }), CALM_MS).unref();
  }
}

/** Node.js does not declare all that V8 takes. */
const collect = globalThis.gc as ((how: { type: 'major'; flavor: 'last-resort' }) => void) | undefined;
