import type { Clock, Labels, Log, Meter, MetricDefinition } from '../contract/observability.ts';

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
  readonly #log: Log;
  readonly #clock: Clock;

  constructor(target: Meter, log: Log, clock: Clock) {
    this.#target = target;
    this.#log = log;
    this.#clock = clock;
  }

  attach(target: Meter): void {
    this.#target = target;
  }

  count(metric: MetricDefinition, labels?: Labels, by?: number): void {
    this.#relay(metric, (target) => target.count(metric, labels, by));
  }

  gauge(metric: MetricDefinition, value: number, labels?: Labels): void {
    this.#relay(metric, (target) => target.gauge(metric, value, labels));
  }

  observe(metric: MetricDefinition, value: number, labels?: Labels): void {
    this.#relay(metric, (target) => target.observe(metric, value, labels));
  }

  remove(metric: MetricDefinition, labels: Labels): void {
    this.#relay(metric, (target) => target.remove(metric, labels));
  }

  time(metric: MetricDefinition, labels?: Labels): () => void {
    const start = this.#clock.now();
    return () => this.observe(metric, (this.#clock.now() - start) / 1000, labels);
  }

  /** What is measured must go on, whatever an exporter thinks of it. */
  #relay(metric: MetricDefinition, call: (target: Meter) => void): void {
    try {
      call(this.#target);
    } catch (error) {
      this.#log.error({ metric: metric.name, err: error }, 'measuring failed');
    }
  }
}
