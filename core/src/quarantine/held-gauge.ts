import type { Meter } from '../contract/index.ts';

const HELD = {
  name: 'haptic_quarantined_objects',
  help: 'Watched objects in quarantine',
  labels: ['watch'],
} as const;

/** Counts what is held by watch; a watch that had something keeps its series. */
export class HeldGauge {
  readonly #meter: Meter | undefined;
  readonly #watches = new Set<string>();

  constructor(meter: Meter | undefined) {
    this.#meter = meter;
  }

  set(entries: Iterable<{ readonly watch: string }>): void {
    const counts = new Map([...this.#watches].map((watch) => [watch, 0]));
    for (const { watch } of entries) counts.set(watch, (counts.get(watch) ?? 0) + 1);
    for (const [watch, count] of counts) {
      this.#watches.add(watch);
      this.#meter?.gauge(HELD, count, { watch });
    }
  }
}
