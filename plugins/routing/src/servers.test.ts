import { describe, expect, test } from 'vitest';
import type { Endpoint, EndpointSlice, Service } from './kube-objects.ts';
import { serversOf } from './servers.ts';

const service: Service = { spec: { ports: [{ name: 'http', port: 80 }] } };
const port = { name: 'http', port: 80 };

function pod(name: string, address: string, conditions: Endpoint['conditions'] = {}): Endpoint {
  return { addresses: [address], conditions, targetRef: { kind: 'Pod', name } };
}

function slice(endpoints: readonly Endpoint[], rest: Partial<EndpointSlice> = {}): EndpointSlice {
  return { addressType: 'IPv4', ports: [{ name: 'http', port: 8080 }], ...rest, endpoints: [...endpoints] };
}

function serversIn(slices: readonly EndpointSlice[], of: Service = service) {
  return serversOf('be', of, port, slices, []).map(({ name, address, port, state }) => {
    return `${name} ${address}:${port} ${state}`;
  });
}

const ending = { ready: false, serving: true, terminating: true };
const dead = { ready: false, serving: false };

describe('which endpoints serve', () => {
  test('ready ones, by name', () => {
    expect(serversIn([slice([pod('b', '10.0.0.2'), pod('a', '10.0.0.1', { ready: true })])])).toEqual([
      'a 10.0.0.1:8080 ready',
      'b 10.0.0.2:8080 ready',
    ]);
  });

  test('ending ones drain while others are ready', () => {
    expect(serversIn([slice([pod('a', '10.0.0.1', ending), pod('b', '10.0.0.2')])])).toEqual([
      'a 10.0.0.1:8080 drain',
      'b 10.0.0.2:8080 ready',
    ]);
  });

  test('ending ones serve when none is ready', () => {
    expect(serversIn([slice([pod('a', '10.0.0.1', ending), pod('b', '10.0.0.2', dead)])])).toEqual([
      'a 10.0.0.1:8080 ready',
    ]);
  });

  test('those that do not serve are left out', () => {
    expect(serversIn([slice([pod('a', '10.0.0.1', dead)])])).toEqual([]);
  });
});

describe('who a server is', () => {
  test('a pod in two slices is one server', () => {
    const twice = [slice([pod('a', '10.0.0.1', ending)]), slice([pod('a', '10.0.0.1')])];
    expect(serversIn(twice)).toEqual(['a 10.0.0.1:8080 ready']);
    expect(serversIn(twice.toReversed())).toEqual(serversIn(twice));
  });

  test('without a pod it is named after its address', () => {
    const anonymous: Endpoint = { addresses: ['10.0.0.1'], conditions: {} };
    expect(serversIn([slice([anonymous])])).toEqual(['10.0.0.1-8080 10.0.0.1:8080 ready']);
  });

  test('of two families the first of the Service that has endpoints is taken', () => {
    const both = [
      slice([pod('a', '10.0.0.1')]),
      slice([pod('a', 'fd00::1')], { addressType: 'IPv6' }),
      slice([{ addresses: ['a.example'], conditions: {} }], { addressType: 'FQDN' }),
    ];
    const v6 = { spec: { ...service.spec, ipFamilies: ['IPv6' as const, 'IPv4' as const] } };
    expect(serversIn(both)).toEqual(['a 10.0.0.1:8080 ready']);
    expect(serversIn(both, v6)).toEqual(['a fd00::1:8080 ready']);
    expect(serversIn(both.slice(0, 1), v6)).toEqual(['a 10.0.0.1:8080 ready']);
  });

  test('what is no address is no server', () => {
    expect(serversIn([slice([pod('a', '10.0.0.1; drop'), pod('b', '')])])).toEqual([]);
  });

  test('the port is found by the name of the Service port', () => {
    const ports = [
      { name: 'metrics', port: 9000 },
      { name: 'http', port: 8081 },
    ];
    expect(serversIn([slice([pod('a', '10.0.0.1')], { ports })])).toEqual(['a 10.0.0.1:8081 ready']);
    expect(serversIn([slice([pod('a', '10.0.0.1')], { ports: [{ name: 'other', port: 1 }] })])).toEqual([]);
  });

  test('guids stay within what HAProxy takes, and differ', () => {
    const long = slice([pod(`a${'x'.repeat(200)}`, '10.0.0.1'), pod(`b${'x'.repeat(200)}`, '10.0.0.2')]);
    const guids = serversOf('be', service, port, [long], []).map(({ guid }) => guid);
    expect(new Set(guids).size).toBe(2);
    for (const guid of guids) expect(guid.length).toBeLessThan(128);
  });
});
