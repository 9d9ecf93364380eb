/** JSON data as templates and plugins see it: plain, frozen, with own members only. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export interface ObjectMeta {
  readonly name: string;
  /** Absent for cluster-scoped kinds. */
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  /** RFC 3339; absent in most folders of YAML. */
  readonly creationTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A Kubernetes object, deep-frozen on arrival in the store. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** Names one object in findings, provenance, Events and logs. */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
}

/** The reference to an object. */
export function refOf({ apiVersion, kind, metadata }: KubeObject): ObjectRef {
  const { name, namespace = '', uid } = metadata;
  return { apiVersion, kind, namespace, name, ...(uid !== undefined && { uid }) };
}

/** How messages name an object: `Ingress default/shop`, and `IngressClass nginx` where the kind has no namespaces. */
export function describeRef({
  kind,
  namespace,
  name,
}: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}
