/** Structured log: fields first, then a constant sentence (variables are fields, never in the sentence). */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(bindings: object): Log;
}

export type Labels = Readonly<Record<string, string>>;

/** Counts, gauges and histograms alike: what kind it is follows from the call of the meter. */
export interface MetricDefinition {
  /** With the prefix `haptic_` and the unit as suffix: `haptic_render_duration_seconds`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** What the host offers for measuring; the metrics plugin exports it, without one it costs a function call. */
export interface Meter {
  count(metric: MetricDefinition, labels?: Labels, by?: number): void;
  gauge(metric: MetricDefinition, value: number, labels?: Labels): void;
  /** Adds to a histogram; durations in seconds. */
  observe(metric: MetricDefinition, value: number, labels?: Labels): void;
  /** Removes every series of the metric that has these labels, e.g. of a pod that went. */
  remove(metric: MetricDefinition, labels: Labels): void;
  /** Starts a timer; calling the result observes the elapsed seconds. */
  time(metric: MetricDefinition, labels?: Labels): () => void;
}

/** Time and waiting come from here, so that tests need no real ones. Milliseconds. */
export interface Clock {
  /** Monotonic. */
  now(): number;
  /** Wall clock, since the epoch. */
  wall(): number;
  /** @throws Cancelled when the signal aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
