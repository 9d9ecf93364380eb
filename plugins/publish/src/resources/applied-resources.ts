import { z } from '@haptic/core/contract';

const entry = z.strictObject({
  apiVersion: z.string(),
  kind: z.string(),
  /** Plural, as in paths. */
  resource: z.string(),
  /** Empty for a cluster-scoped one. */
  namespace: z.string(),
  name: z.string(),
});
/** One object that may be ours. */
export type AppliedResource = z.output<typeof entry>;

export const appliedResources = z.strictObject({ version: z.literal(1), objects: z.array(entry) });

export const NOTHING_APPLIED: z.output<typeof appliedResources> = { version: 1, objects: [] };

export function resourceKey({ apiVersion, resource, namespace, name }: AppliedResource): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/') + 1) : '';
  return `${group}${resource} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}

export function keyOf({ apiVersion, kind, resource, namespace, name }: AppliedResource) {
  return { resource: { apiVersion, resource, kind, namespaced: namespace !== '' }, namespace, name };
}
