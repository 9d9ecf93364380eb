import type { KubeObject } from '@haptic/core/contract';
import { readService, type Service } from './kube-objects.ts';

/** How routes name a port of a Service. */
export type PortName = { readonly number: number } | { readonly name: string };

export type ServicePort = Service['spec']['ports'][number];

/** The number of the port that a route names; undefined where the Service has none such. */
export function servicePort(service: KubeObject, wanted: PortName): number | undefined {
  const found = readService(service)?.spec.ports.find((port) =>
    'number' in wanted ? port.port === wanted.number : port.name === wanted.name,
  );
  return found?.port;
}

/** The port of that number, TCP before others: a number may be there once for each protocol. */
export function portOf(service: Service, number: number): ServicePort | undefined {
  const ports = service.spec.ports.filter(({ port }) => port === number);
  return ports.find(({ protocol = 'TCP' }) => protocol === 'TCP') ?? ports[0];
}

/** Outside of what is routed: it names a host instead of having endpoints. */
export function isExternalName(service: KubeObject): boolean {
  return readService(service)?.spec.type === 'ExternalName';
}
