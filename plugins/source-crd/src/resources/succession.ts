import type { Subscriber } from './shared-watch.ts';

/** Begins a subscription and returns how to end it. */
export type Subscribe = (subscriber: Subscriber) => () => void;

/** One subscription in a succession; it can end before it is known how. */
class Turn {
  #end: (() => void) | undefined;
  #isOver = false;

  begin(subscribe: Subscribe, subscriber: Subscriber): void {
    this.#end = subscribe(subscriber);
    if (this.#isOver) this.#end();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
    this.#end?.();
  }
}

/**
 * One subscription after the other for one subscriber, who is told of every change meanwhile: the present one goes on until its
 * successor has everything. A successor that has begun is not given up for a later one: wishes that come faster than a list takes
 * would otherwise leave the subscriber without any.
 */
export class Succession {
  readonly #subscriber: Subscriber;
  #present: Turn | undefined;
  #successor: Turn | undefined;
  /** The newest that came while a successor was not ready yet; those before it are nobody's wish any more. */
  #wanted: Subscribe | undefined;

  constructor(subscriber: Subscriber) {
    this.#subscriber = subscriber;
  }

  next(subscribe: Subscribe): void {
    if (this.#successor === undefined) this.#begin(subscribe);
    else this.#wanted = subscribe;
  }

  stop(): void {
    this.#wanted = undefined;
    this.#successor?.end();
    this.#present?.end();
    this.#successor = undefined;
    this.#present = undefined;
  }

  #begin(subscribe: Subscribe): void {
    const turn = new Turn();
    this.#successor = turn;
    turn.begin(subscribe, {
      replace: (objects) => {
        if (turn.isOver) return;
        // A subscriber that throws is told again, by the same one: until then the present one stays.
        this.#subscriber.replace(objects);
        if (turn === this.#successor) this.#takeOver(turn);
      },
      apply: (changes) => {
        if (!turn.isOver) this.#subscriber.apply(changes);
      },
    });
  }

  #takeOver(turn: Turn): void {
    this.#present?.end();
    this.#present = turn;
    this.#successor = undefined;
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (wanted !== undefined) this.#begin(wanted);
  }
}
