import type { Clock, Log, Meter } from '@haptic/core/contract';
import {
  countRestarts,
  Elector,
  leaseResource,
  Reflector,
  type KubeConnection,
  type LeaseTerm,
} from '@haptic/kube';
import { once } from 'node:events';
import type { ElectionSettings } from './election-settings.ts';

export interface CandidacyParts {
  readonly kube: KubeConnection;
  readonly leaseName: string;
  readonly settings: ElectionSettings;
  readonly identity: string;
  /** The highest epoch that any pod has seen. */
  readonly floor: (signal: AbortSignal) => Promise<number>;
  /** A term has begun or ended. */
  readonly changed: () => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}

/** Stands for the Lease, and watches it: a holder that hands over is followed at once. */
export class Candidacy {
  readonly elector: Elector;
  readonly #lease: Reflector;

  constructor({ kube, leaseName, settings, identity, floor, changed, clock, log, meter }: CandidacyParts) {
    const { leaseDuration, renewDeadline, retryPeriod } = settings;
    const place = { api: kube.api, namespace: kube.namespace, clock, log };
    this.elector = new Elector({
      ...place,
      name: leaseName,
      identity,
      floor,
      timing: { leaseDuration, renewDeadline, retryPeriod },
      lead: (term) => lead(term, changed),
    });
    this.#lease = new Reflector({
      ...place,
      resource: leaseResource,
      observe: countRestarts(meter, leaseResource.resource),
      fieldSelector: `metadata.name=${leaseName}`,
      handler: {
        replace: () => undefined,
        apply: ({ upserts }) => {
          const [lease] = upserts;
          if (lease !== undefined && isFree(lease['spec'])) this.elector.kick();
        },
        notServed: () => undefined,
      },
    });
  }

  /** From now on with this timing; a term goes on. */
  retime({ leaseDuration, renewDeadline, retryPeriod }: ElectionSettings): void {
    this.elector.retime({ leaseDuration, renewDeadline, retryPeriod });
  }

  /** Until the signal aborts; the Lease is then handed over. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.elector.run(signal), this.#lease.run(signal)]);
  }
}

/**
 * What belongs to a term is called off by its signal, and fenced by its epoch where it cannot be: there is nothing to wait for
 * before the Lease is handed over.
 */
async function lead(term: LeaseTerm, changed: () => void): Promise<void> {
  changed();
  if (!term.signal.aborted) await once(term.signal, 'abort');
  changed();
}

function isFree(spec: unknown): boolean {
  const { holderIdentity } = (spec ?? {}) as { readonly holderIdentity?: unknown };
  return holderIdentity === '' || holderIdentity === undefined;
}
