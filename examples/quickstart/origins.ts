import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Origin {
  readonly service: string;
  readonly port: number;
}

/** Starts one tiny server a service on free loopback ports; each answers with its name, the path and the request's headers. */
export async function startOrigins(
  services: readonly string[],
): Promise<{ readonly origins: readonly Origin[]; readonly stop: () => void }> {
  const servers = services.map((service) => ({ service, server: createOrigin(service) }));
  await Promise.all(servers.map(({ server }) => once(server.listen(0, '127.0.0.1'), 'listening')));
  return {
    origins: servers.map(({ service, server }) => ({
      service,
      port: (server.address() as AddressInfo).port,
    })),
    stop: () => {
      for (const { server } of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

function createOrigin(service: string): Server {
  return createServer((request, response) => {
    const headers = Object.entries(request.headers).map(([name, value]) => `  ${name}: ${String(value)}`);
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    response.end(
      [`${service} answers ${request.method} ${request.url}`, 'headers:', ...headers, ''].join('\n'),
    );
  });
}

/** The EndpointSlice that the control plane of a cluster would write for a service with one ready pod. */
export function endpointSlice({ service, port }: Origin): string {
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${service}-1`,
      namespace: 'default',
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType: 'IPv4',
    ports: [{ name: portNames[service] ?? '', port, protocol: 'TCP' }],
    endpoints: [
      {
        addresses: ['127.0.0.1'],
        conditions: { ready: true, serving: true, terminating: false },
        targetRef: { kind: 'Pod', namespace: 'default', name: `${service}-0` },
      },
    ],
  };
  return `${JSON.stringify(slice, undefined, 2)}\n`;
}

/** Names of the ports of the services in `resources/`; a slice's port is named like its service's. */
const portNames: Readonly<Record<string, string>> = { hello: 'http' };
