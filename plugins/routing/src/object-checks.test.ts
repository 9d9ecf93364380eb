import { expect, test } from 'vitest';
import { objectChecks } from './object-checks.ts';

function problemsOf(kind: string, rest: object): readonly string[] {
  const check = objectChecks.find((check) => check.kind === kind)!;
  return check
    .problems({ apiVersion: check.apiVersion, kind, metadata: { name: 'x' }, ...rest })
    .map(({ path, message }) => `${path.join('.')}: ${message}`);
}

test.each<[string, object]>([
  ['Service', { spec: { ports: [{ name: null, port: 80, targetPort: 'http' }] } }],
  ['Service', { spec: { type: 'ExternalName', externalName: 'a.test', ports: null } }],
  ['EndpointSlice', { addressType: 'IPv4', endpoints: null, ports: [{ port: null }] }],
  ['EndpointSlice', { endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }] }],
])('admits a %s %j', (kind, rest) => {
  expect(problemsOf(kind, rest)).toEqual([]);
});

test.each<[string, object, string]>([
  ['Service', {}, 'spec: missing, expected an object with ports'],
  ['Service', { spec: { ports: 80 } }, 'spec.ports: expected a list of ports, got 80'],
  ['Service', { spec: { ports: [{ port: '80' }] } }, 'spec.ports.0.port: expected a port number, got "80"'],
  [
    'Service',
    { spec: { ports: [{ port: 65_536 }] } },
    'spec.ports.0.port: expected a port number, got 65536',
  ],
  [
    'Service',
    { spec: { type: 'ClusterIp' } },
    'spec.type: expected one of ClusterIP, NodePort, LoadBalancer, ExternalName, got "ClusterIp", did you mean "ClusterIP"?',
  ],
  ['EndpointSlice', { ports: [{ port: 0 }] }, 'ports.0.port: expected a port number, got 0'],
  ['EndpointSlice', { endpoints: [{}] }, 'endpoints.0.addresses: missing, expected a list of addresses'],
  [
    'EndpointSlice',
    { endpoints: [{ addresses: ['::1'], conditions: { ready: 'yes' } }] },
    'endpoints.0.conditions.ready: expected true or false, got "yes"',
  ],
])('refuses a %s %j', (kind, rest, problem) => {
  expect(problemsOf(kind, rest)).toEqual([problem]);
});
