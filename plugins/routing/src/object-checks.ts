import { z } from 'zod';
import { expected, objectCheck, oneOf } from './admissible.ts';

const text = z.string(expected('text')).nullish();
const portNumber = z
  .number(expected('a port number'))
  .refine((port) => Number.isInteger(port) && port >= 1 && port <= 65_535, expected('a port number'));

const service = z.object({
  spec: z.object(
    {
      type: oneOf(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName']).nullish(),
      ipFamilies: z.array(oneOf(['IPv4', 'IPv6']), expected('a list')).nullish(),
      ports: z
        .array(
          z.object({ name: text, port: portNumber, protocol: text }, expected('an object with port')),
          expected('a list of ports'),
        )
        .nullish(),
    },
    expected('an object with ports'),
  ),
});

const flag = z.boolean(expected('true or false')).nullish();

const endpoint = z.object(
  {
    addresses: z.array(z.string(expected('an address')), expected('a list of addresses')),
    conditions: z.object({ ready: flag, serving: flag, terminating: flag }, expected('an object')).nullish(),
    targetRef: z.object({ kind: text, name: text }, expected('an object')).nullish(),
  },
  expected('an object with addresses'),
);

const endpointSlice = z.object({
  addressType: oneOf(['IPv4', 'IPv6', 'FQDN']).nullish(),
  endpoints: z.array(endpoint, expected('a list of endpoints')).nullish(),
  ports: z
    .array(
      z.object({ name: text, port: portNumber.nullish(), protocol: text }, expected('an object with port')),
      expected('a list of ports'),
    )
    .nullish(),
});

/** What the Kubernetes API refuses of what routing reads. */
export const objectChecks = [
  objectCheck('v1', 'Service', service),
  objectCheck('discovery.k8s.io/v1', 'EndpointSlice', endpointSlice),
];
