import type { Clock, Labels, Meter, MetricDefinition } from '../contract/observability.ts';

export interface Series {
  readonly metric: string;
  readonly labels: Labels;
  /** Sum of counts, last value of a gauge, sum of observations. */
  readonly value: number;
  /** How often it was counted, set or observed. */
  readonly times: number;
}

export interface MemoryMeter extends Meter {
  series(metric: string): readonly Series[];
  /** The value of one series; 0 when nothing was measured. */
  value(metric: string, labels?: Labels): number;
}

/** Keeps what is measured. Labels that a metric does not declare are refused, as an exporter would. */
export function memoryMeter(clock: Clock): MemoryMeter {
  const kept = new Map<string, Series>();
  const write = (metric: MetricDefinition, labels: Labels, next: (value: number) => number): void => {
    checkLabels(metric, labels);
    const key = seriesKey(metric.name, labels);
    const old = kept.get(key) ?? { metric: metric.name, labels, value: 0, times: 0 };
    kept.set(key, { ...old, value: next(old.value), times: old.times + 1 });
  };
  const meter: MemoryMeter = {
    count: (metric, labels = {}, by = 1) => write(metric, labels, (value) => value + by),
    gauge: (metric, value, labels = {}) => write(metric, labels, () => value),
    observe: (metric, value, labels = {}) => write(metric, labels, (sum) => sum + value),
    time(metric, labels) {
      const start = clock.now();
      return () => meter.observe(metric, (clock.now() - start) / 1000, labels);
    },
    remove(metric, labels) {
      for (const [key, series] of kept) {
        if (series.metric === metric.name && includes(series.labels, labels)) kept.delete(key);
      }
    },
    series: (metric) => [...kept.values()].filter((series) => series.metric === metric),
    value: (metric, labels = {}) => kept.get(seriesKey(metric, labels))?.value ?? 0,
  };
  return meter;
}

function checkLabels(metric: MetricDefinition, labels: Labels): void {
  const declared = [...(metric.labels ?? [])].sort().join();
  const given = Object.keys(labels).sort().join();
  if (given !== declared) throw new TypeError(`${metric.name} has the labels [${declared}], got [${given}]`);
}

function seriesKey(metric: string, labels: Labels): string {
  return JSON.stringify([metric, ...Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function includes(labels: Labels, part: Labels): boolean {
  return Object.entries(part).every(([name, value]) => labels[name] === value);
}
