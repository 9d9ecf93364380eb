import type { WatchView } from '@haptic/core/contract';
import { isExternalName, quoted, servicePort, type Destination, type PortName } from '@haptic/routing';
import type { IngressBackend } from './ingress-object.ts';

export interface Resolved {
  readonly to: Destination;
  /** Why requests are answered 503. */
  readonly warning?: { readonly reason: string; readonly message: string };
}

/** Finds the Services that the backends of one namespace's Ingresses name. */
export class Destinations {
  readonly #namespace: string;
  readonly #services: WatchView;

  constructor(namespace: string, services: WatchView) {
    this.#namespace = namespace;
    this.#services = services;
  }

  resolve(backend: IngressBackend): Resolved {
    const { service: wanted } = backend;
    if (wanted === undefined || wanted === null) {
      return unavailable('BackendUnsupported', 'only Services are supported as backends; it answers 503');
    }
    const { name } = wanted;
    const service = this.#services.get(this.#namespace, name);
    if (service === undefined) {
      return unavailable('ServiceMissing', `there is no Service ${quoted(name)}; it answers 503`);
    }
    if (isExternalName(service)) {
      return unavailable(
        'BackendUnsupported',
        `Service ${quoted(name)} has type ExternalName, which is not supported; it answers 503`,
      );
    }
    const portName = portNameOf(wanted.port);
    const port = portName && servicePort(service, portName);
    if (port === undefined) {
      const named = wanted.port?.name ?? wanted.port?.number ?? 'without name or number';
      return unavailable(
        'PortMissing',
        `Service ${quoted(name)} has no port ${quoted(String(named))}; it answers 503`,
      );
    }
    return { to: { kind: 'backend', backend: { namespace: this.#namespace, service: name, port } } };
  }
}

function portNameOf(port: NonNullable<IngressBackend['service']>['port']): PortName | undefined {
  if (port?.name !== undefined && port.name !== null && port.name !== '') return { name: port.name };
  return port?.number === undefined || port.number === null ? undefined : { number: port.number };
}

function unavailable(reason: string, message: string): Resolved {
  return { to: { kind: 'status', status: 503 }, warning: { reason, message } };
}

/** For an Ingress in quarantine: its hosts and paths are there, and nothing else of it is used. */
export const unavailableDestinations: Pick<Destinations, 'resolve'> = Object.freeze({
  resolve: () => ({ to: { kind: 'status', status: 503 } as const }),
});
