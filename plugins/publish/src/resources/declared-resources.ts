import { Refused, type ConfigVersion, type JsonObject, z } from '@haptic/core/contract';
import type { Discovery } from '@haptic/kube';
import { installationLabel, MANAGED_BY, ownerReference } from '../names.ts';
import type { AppliedResource } from './applied-resources.ts';

/** One object as a template declared it, with what makes it ours. */
export interface DeclaredResource {
  readonly place: AppliedResource;
  readonly fields: JsonObject;
  /** Goes when the config goes. */
  readonly isOwned: boolean;
}

const Declared = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string().min(1),
    namespace: z.string().optional(),
    labels: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** @throws Refused for what is no object of a kind that the server serves */
export function declaredResource(
  declared: JsonObject,
  config: ConfigVersion,
  discovery: Pick<Discovery, 'findKind'>,
): DeclaredResource {
  const parsed = Declared.safeParse(declared);
  if (!parsed.success)
    throw new Refused(`a declared resource is no object: ${z.prettifyError(parsed.error)}`);
  const { apiVersion, kind, metadata } = parsed.data;
  const found = discovery.findKind(apiVersion, kind);
  if (found === undefined) {
    throw new Refused(`${apiVersion} ${kind} ${metadata.name}: the cluster does not serve this kind`);
  }
  const namespace = found.namespaced ? (metadata.namespace ?? config.namespace) : '';
  const labels = { ...metadata.labels, [MANAGED_BY]: installationLabel(config) };
  // Others could not refer to an owner in another namespace: such an owner counts as gone.
  const isOwned = namespace === config.namespace;
  const ownerReferences = isOwned ? { ownerReferences: [ownerReference(config)] } : {};
  return {
    place: { apiVersion, kind, resource: found.resource, namespace, name: metadata.name },
    fields: { ...declared, metadata: { ...metadata, labels, ...ownerReferences } } as JsonObject,
    isOwned,
  };
}
