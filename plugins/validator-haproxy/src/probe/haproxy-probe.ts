import { Cancelled, Retry, type ProbeSite, type TrafficProbe } from '@haptic/core/contract';
import { Staging } from '../staging.ts';
import { WorkFolder } from '../work-folder.ts';
import { holdPorts } from './held-ports.ts';
import { HaproxySite } from './probe-site.ts';
import { StandInServer } from './stand-in.ts';

export interface ProbeOptions {
  /** Absolute path. */
  readonly binary: string;
  readonly maxOutput: number;
}

/** Starts HAProxy on rendered files, as often as it is asked to, and ends what is left when it is disposed itself. */
export class HaproxyProbe implements TrafficProbe {
  readonly #options: ProbeOptions;
  readonly #folder: WorkFolder;
  readonly #staging: Staging;
  readonly #standIn = new StandInServer();
  readonly #sites = new Set<ProbeSite>();
  #disposed = false;

  constructor(options: ProbeOptions, folder = new WorkFolder()) {
    this.#options = options;
    this.#folder = folder;
    this.#staging = new Staging(folder);
  }

  async open(binds: number, signal: AbortSignal): Promise<ProbeSite> {
    const site = await this.#site(binds);
    this.#sites.add(site);
    if (signal.aborted || this.#disposed) {
      await site[Symbol.asyncDispose]();
      throw new Cancelled('the test was called off', { cause: signal.reason });
    }
    return site;
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    await Promise.allSettled([...this.#sites].map((site) => site[Symbol.asyncDispose]()));
    await this.#standIn.close();
    await this.#staging.dispose();
  }

  async #site(binds: number): Promise<ProbeSite> {
    try {
      const standIn = await this.#standIn.address();
      const folder = await this.#folder.open();
      const ports = await holdPorts(binds);
      const disposed = (): void => void this.#sites.delete(site);
      const parts = { ...this.#options, staging: this.#staging, folder, ports, standIn, disposed };
      const site = new HaproxySite(parts);
      return site;
    } catch (error) {
      throw new Retry(`cannot prepare a place for HAProxy: ${(error as Error).message}`, { cause: error });
    }
  }
}
