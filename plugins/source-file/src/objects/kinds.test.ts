import { expect, it } from 'vitest';
import { isClusterScoped, pluralOf } from './kinds.ts';

it.each([
  ['Ingress', 'ingresses'],
  ['IngressClass', 'ingressclasses'],
  ['Service', 'services'],
  ['Endpoints', 'endpoints'],
  ['EndpointSlice', 'endpointslices'],
  ['Secret', 'secrets'],
  ['ConfigMap', 'configmaps'],
  ['Namespace', 'namespaces'],
  ['NetworkPolicy', 'networkpolicies'],
  ['Gateway', 'gateways'],
  ['GatewayClass', 'gatewayclasses'],
  ['HTTPRoute', 'httproutes'],
  ['GRPCRoute', 'grpcroutes'],
  ['TLSRoute', 'tlsroutes'],
  ['ReferenceGrant', 'referencegrants'],
  ['BackendTLSPolicy', 'backendtlspolicies'],
  ['constructor', 'constructors'],
])('the plural of %s is %s', (kind, plural) => {
  expect(pluralOf(kind)).toBe(plural);
});

it('knows what stands in no namespace', () => {
  expect(['IngressClass', 'Namespace', 'Node'].every(isClusterScoped)).toBe(true);
  expect(['Ingress', 'Secret', 'Gateway'].some(isClusterScoped)).toBe(false);
});
