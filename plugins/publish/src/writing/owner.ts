import type { ConfigVersion, KubeObject } from '@haptic/core/contract';
import { configResource, getObject, type KubeApi } from '@haptic/kube';

/** Whether this very config is there to own something: the garbage collector takes what has an owner that is not. */
export async function canOwn(
  api: KubeApi,
  { namespace, name, uid }: ConfigVersion,
  signal: AbortSignal,
): Promise<boolean> {
  const live = await getObject(api, { resource: configResource, namespace, name }, { signal });
  return live?.metadata.uid === uid && !isBeingDeleted(live);
}

export function isBeingDeleted({ metadata }: KubeObject): boolean {
  return (metadata as { readonly deletionTimestamp?: string }).deletionTimestamp !== undefined;
}

export function isOwnedBy(live: KubeObject, { uid }: ConfigVersion): boolean {
  const { ownerReferences } = live.metadata as { readonly ownerReferences?: unknown };
  if (!Array.isArray(ownerReferences)) return false;
  return (ownerReferences as readonly { readonly uid?: unknown }[]).some((owner) => owner.uid === uid);
}
