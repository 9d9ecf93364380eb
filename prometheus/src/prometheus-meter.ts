import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock, Labels, Meter, MetricDefinition } from '@haptic/core/contract';

/**
 * One scale for all durations and sizes, so that dashboards can lay them over each other: from a change of one server, which
 * takes about a millisecond, to the longest reload that is waited for.
 */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

interface Kept {
  readonly metric: Counter | Gauge | Histogram;
  /** The label sets of its series, by their values. */
  readonly series: Map<string, Labels>;
}

/** Keeps what is measured for Prometheus to fetch. Each has a registry of its own: nothing is global. */
export class PrometheusMeter implements Meter {
  readonly contentType: string;
  readonly #registry = new Registry();
  readonly #kept = new Map<string, Kept>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.contentType = this.#registry.contentType;
  }

  count(definition: MetricDefinition, labels: Labels = {}, by = 1): void {
    this.#of(Counter, definition, labels).inc(labels, by);
  }

  gauge(definition: MetricDefinition, value: number, labels: Labels = {}): void {
    this.#of(Gauge, definition, labels).set(labels, value);
  }

  observe(definition: MetricDefinition, value: number, labels: Labels = {}): void {
    this.#of(Histogram, definition, labels).observe(labels, value);
  }

  time(definition: MetricDefinition, labels?: Labels): () => void {
    const start = this.#clock.now();
    return () => this.observe(definition, (this.#clock.now() - start) / 1_000, labels);
  }

  remove({ name }: MetricDefinition, part: Labels): void {
    const kept = this.#kept.get(name);
    for (const [key, labels] of kept?.series ?? []) {
      if (!Object.entries(part).every(([label, value]) => labels[label] === value)) continue;
      kept?.series.delete(key);
      kept?.metric.remove(labels);
    }
  }

  /** Everything in Prometheus' text format. */
  scrape(): Promise<string> {
    return this.#registry.metrics();
  }

  /** @throws TypeError where one name stands for two kinds of metric, or the labels are not those that are declared. */
  #of<M extends typeof Counter | typeof Gauge | typeof Histogram>(
    Kind: M,
    { name, help, labels: declared = [] }: MetricDefinition,
    labels: Labels,
  ): InstanceType<M> {
    const given = Object.keys(labels).toSorted().join();
    const expected = [...declared].toSorted().join();
    if (given !== expected) throw new TypeError(`${name} has the labels [${expected}], got [${given}]`);
    let kept = this.#kept.get(name);
    if (kept === undefined) {
      const metric = new Kind({
        name,
        help,
        labelNames: [...declared],
        registers: [this.#registry],
        buckets: SECONDS,
      });
      kept = { metric, series: new Map() };
      this.#kept.set(name, kept);
    }
    if (!(kept.metric instanceof Kind)) throw new TypeError(`${name} is measured in two ways`);
    kept.series.set(JSON.stringify(declared.map((label) => labels[label])), labels);
    return kept.metric as InstanceType<M>;
  }
}
