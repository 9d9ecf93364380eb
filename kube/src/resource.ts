/** One kind as the server serves it. */
export interface Resource {
  /** `v1`, `networking.k8s.io/v1`. */
  readonly apiVersion: string;
  /** Plural, as in paths: `ingresses`. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Where objects of a kind are: all of them, or those of a namespace. */
export function collectionPath({ apiVersion, resource }: Resource, namespace?: string): string {
  const root = apiVersion.includes('/') ? '/apis' : '/api';
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}/${apiVersion}${scope}/${resource}`;
}

export function objectPath(resource: Resource, namespace: string | undefined, name: string): string {
  const scope = resource.namespaced ? namespace : undefined;
  return `${collectionPath(resource, scope)}/${encodeURIComponent(name)}`;
}
