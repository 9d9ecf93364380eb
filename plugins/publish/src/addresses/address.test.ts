import { expect, test } from 'vitest';
import { addressesOf } from './address.ts';

const balanced = (...ingress: object[]): object => ({ loadBalancer: { ingress } });

test.each<[string, object, readonly object[]]>([
  ['nothing of no Service', {}, []],
  [
    'the name of an external one',
    { spec: { type: 'ExternalName', externalName: 'lb.test' } },
    [{ hostname: 'lb.test' }],
  ],
  [
    'the address in the cluster',
    { spec: { type: 'ClusterIP', clusterIP: '10.0.0.1' } },
    [{ ip: '10.0.0.1' }],
  ],
  ['no address of a headless one', { spec: { clusterIP: 'None' } }, []],
  [
    'external addresses before that of the cluster',
    { spec: { type: 'NodePort', clusterIP: '10.0.0.1', externalIPs: ['192.0.2.1', '192.0.2.1'] } },
    [{ ip: '192.0.2.1' }],
  ],
  [
    'what a load balancer has, and external addresses',
    {
      spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1', externalIPs: ['192.0.2.9'] },
      status: balanced({ ip: '192.0.2.1', ipMode: 'VIP', ports: [] }, { hostname: 'lb.test' }, {}),
    },
    [{ ip: '192.0.2.1' }, { hostname: 'lb.test' }, { ip: '192.0.2.9' }],
  ],
  ['nothing while a load balancer has none', { spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1' } }, []],
  ['nothing of what is no Service', { spec: { externalIPs: 'x' } }, []],
])('a Service gives %s', (_what, service, expected) => {
  expect(addressesOf(service)).toEqual(expected);
});
