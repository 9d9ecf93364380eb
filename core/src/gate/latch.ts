import type { Clock, LatchReason, LatchState } from '../contract/index.ts';

const OPEN: LatchState = Object.freeze({ state: 'open' });

/** Whether a render may go out before HAProxy has judged it. Closed until something passes. */
export class Latch {
  readonly #clock: Pick<Clock, 'wall'>;
  #state: LatchState;

  constructor(clock: Pick<Clock, 'wall'>) {
    this.#clock = clock;
    this.#state = this.#latched('first-render');
  }

  get state(): LatchState {
    return this.#state;
  }

  open(): void {
    this.#state = OPEN;
  }

  /** The first reason stays until it opens. */
  close(reason: LatchReason): void {
    if (this.#state.state === 'open') this.#state = this.#latched(reason);
  }

  restart(): void {
    this.#state = this.#latched('first-render');
  }

  #latched(reason: LatchReason): LatchState {
    return Object.freeze({ state: 'latched', reason, since: this.#clock.wall() });
  }
}
