const every = 10;

/** How long a busy machine let this process wait for its turn; others that run beside it fared alike. Milliseconds. */
export class StallMeter {
  #total = 0;
  #expected = performance.now() + every;
  readonly #timer = setInterval(() => {
    const now = performance.now();
    this.#total += Math.max(0, now - this.#expected - 1);
    this.#expected = now + every;
  }, every);

  get total(): number {
    return this.#total;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
