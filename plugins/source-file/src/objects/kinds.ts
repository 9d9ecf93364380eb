/** Kinds that stand in no namespace. Others are taken to stand in one: custom kinds that do not are rare among routes. */
const CLUSTER_SCOPED = new Set([
  'APIService',
  'ClusterRole',
  'ClusterRoleBinding',
  'CustomResourceDefinition',
  'GatewayClass',
  'IngressClass',
  'MutatingWebhookConfiguration',
  'Namespace',
  'Node',
  'PersistentVolume',
  'PriorityClass',
  'RuntimeClass',
  'StorageClass',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
]);

/**
 * Kinds of Kubernetes' own that routes are made of. What is none of them and near one is taken for a misspelling, so siblings
 * that nothing watches belong here as well.
 */
export const ROUTE_KINDS: readonly string[] = [
  'BackendTLSPolicy',
  'ConfigMap',
  'EndpointSlice',
  'Endpoints',
  'GRPCRoute',
  'Gateway',
  'GatewayClass',
  'HTTPRoute',
  'Ingress',
  'IngressClass',
  'ListenerSet',
  'Namespace',
  'ReferenceGrant',
  'Secret',
  'Service',
  'TCPRoute',
  'TLSRoute',
  'UDPRoute',
];

/** Plurals that no rule gives. */
const IRREGULAR: Readonly<Record<string, string>> = { Endpoints: 'endpoints' };

export function isClusterScoped(kind: string): boolean {
  return CLUSTER_SCOPED.has(kind);
}

/** `ingresses` of `Ingress`: a folder has no API server that would say so, and Kubernetes' own plurals are those of English. */
export function pluralOf(kind: string): string {
  const irregular = Object.hasOwn(IRREGULAR, kind) ? IRREGULAR[kind] : undefined;
  if (irregular !== undefined) return irregular;
  const singular = kind.toLowerCase();
  if (/(?:s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}
