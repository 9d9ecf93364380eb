import { POD_DISCOVERY, type FoundPod, type PluginContext } from '@haptic/core/contract';
import { endpointsOfPods } from './endpoints.ts';
import type { DiscoverOptions } from './options.ts';
import type { Roster } from './roster.ts';

/** Keeps the roster to the pods that are found, and to the port of their agents. */
export class DiscoveredPods {
  readonly #roster: Roster;
  readonly #endpoints: ReturnType<typeof endpointsOfPods>;
  #found: readonly FoundPod[] | undefined;
  #port: number | undefined;

  constructor(options: DiscoverOptions, context: PluginContext, roster: Roster) {
    this.#roster = roster;
    this.#endpoints = endpointsOfPods(options, context);
    const stop = context.use(POD_DISCOVERY).follow((found) => {
      this.#found = found;
      this.#update();
    });
    context.onDispose(stop);
  }

  listenAt(port: number): void {
    if (port === this.#port) return;
    this.#port = port;
    this.#update();
  }

  /** Neither is known at the start. */
  #update(): void {
    if (this.#found === undefined || this.#port === undefined) return;
    this.#roster.set(this.#endpoints(this.#found, this.#port));
  }
}
