import type { Clock } from './observability.ts';

/** Who reads a log from here on hears of it, too. Milliseconds. */
const AGAIN_MS = 600_000;

/** Something that is tried until it works: when its failures are worth a line for a person, and whether its end is. */
export class Outage {
  readonly #clock: Pick<Clock, 'now'>;
  /** When it was told last, by reason. */
  readonly #told = new Map<string, number>();
  #begun = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Somebody was told that it fails, and nobody yet that it does not. */
  get isTold(): boolean {
    return this.#told.size > 0;
  }

  /**
   * Whether a failure is to be told: the first for its reason, and one after a long time.
   * @param reason One of few words, such as the class of an error: it is kept until the end.
   */
  isNews(reason: string): boolean {
    const [now, last] = [this.#clock.now(), this.#told.get(reason)];
    if (last !== undefined && now - last < AGAIN_MS) return false;
    if (!this.isTold) this.#begun = now;
    this.#told.set(reason, now);
    return true;
  }

  /** It works. Milliseconds since the first failure that was told; undefined when none was. */
  end(): number | undefined {
    if (!this.isTold) return undefined;
    this.#told.clear();
    return this.#clock.now() - this.#begun;
  }
}
