import type { Clock, KubeObject, Log, Meter } from '@haptic/core/contract';
import { countRestarts, Reflector, type KubeApi } from '@haptic/kube';
import { addressesOf, type Address } from './address.ts';

export interface ServiceAddressesParts {
  readonly api: KubeApi;
  readonly service: { readonly namespace: string; readonly name: string };
  readonly changed: () => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}

/** The addresses of one Service, followed. */
export class ServiceAddresses {
  readonly #reflector: Reflector;
  #current: readonly Address[] = [];

  constructor({ api, service, changed, clock, log, meter }: ServiceAddressesParts) {
    const take = (object: KubeObject | undefined): void => {
      const addresses = addressesOf(object ?? {});
      // One that loses its addresses for a while must not take them from every Ingress.
      if (addresses.length === 0) {
        log.warn({ service }, 'the Service has no addresses to publish: those that are published stay');
        return;
      }
      this.#current = addresses;
      changed();
    };
    this.#reflector = new Reflector({
      api,
      namespace: service.namespace,
      resource: { apiVersion: 'v1', resource: 'services', kind: 'Service', namespaced: true },
      fieldSelector: `metadata.name=${service.name}`,
      observe: countRestarts(meter, 'services'),
      handler: {
        replace: ([object]) => take(object),
        apply: ({ upserts }) => take(upserts[0]),
        notServed: () => undefined,
      },
      clock,
      log,
    });
  }

  /** Empty as long as it never had any. */
  get current(): readonly Address[] {
    return this.#current;
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#reflector.run(signal);
  }
}
