import type { Clock, Labels, Meter, MetricDefinition } from '../contract/observability.ts';

/** Measures nothing: what a host without a metrics plugin has. */
export const noMeter: Meter = Object.freeze({
  count() {},
  gauge() {},
  observe() {},
  remove() {},
  time: () => () => {},
});

/** Hands everything to the meter that is current, so that plugins keep theirs when a metrics plugin brings its own. */
export class RelayMeter implements Meter {
  #target: Meter;
  readonly #clock: Clock;

  constructor(target: Meter, clock: Clock) {
    this.#target = target;
    this.#clock = clock;
  }

  attach(target: Meter): void {
    this.#target = target;
  }

  count(metric: MetricDefinition, labels?: Labels, by?: number): void {
    this.#target.count(metric, labels, by);
  }

  gauge(metric: MetricDefinition, value: number, labels?: Labels): void {
    this.#target.gauge(metric, value, labels);
  }

  observe(metric: MetricDefinition, value: number, labels?: Labels): void {
    this.#target.observe(metric, value, labels);
  }

  remove(metric: MetricDefinition, labels: Labels): void {
    this.#target.remove(metric, labels);
  }

  time(metric: MetricDefinition, labels?: Labels): () => void {
    const start = this.#clock.now();
    return () => this.observe(metric, (this.#clock.now() - start) / 1000, labels);
  }
}
