import type { Resource } from '@haptic/kube';

export const configMaps: Resource = {
  apiVersion: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};

export const haproxyCfgs: Resource = {
  apiVersion: 'haproxy-haptic.org/v1alpha1',
  resource: 'haproxycfgs',
  kind: 'HAProxyCfg',
  namespaced: true,
};

export const ingresses: Resource = {
  apiVersion: 'networking.k8s.io/v1',
  resource: 'ingresses',
  kind: 'Ingress',
  namespaced: true,
};

export const services: Resource = {
  apiVersion: 'v1',
  resource: 'services',
  kind: 'Service',
  namespaced: true,
};
