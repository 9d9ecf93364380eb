import { isDeepStrictEqual } from 'node:util';
import type { ConfigVersion, KubeObject } from '@haptic/core/contract';
import { applyObject, deleteObject, FIELD_MANAGER, getObject, isApiError, type KubeApi } from '@haptic/kube';
import { installationLabel, MANAGED_BY } from '../names.ts';
import { onlyOver } from '../writing/fence.ts';
import { Later } from '../writing/later.ts';
import { isBeingDeleted } from '../writing/owner.ts';
import { type AppliedResource, keyOf } from './applied-resources.ts';
import type { DeclaredResource } from './declared-resources.ts';

/** Who writes in between at each look is left alone for a while. */
const MOST_LOOKS = 5;

/** The object is somebody else's, or a field of it is. */
export class Foreign extends Error {}

/**
 * Makes an object of ours what is declared, or creates it; never over one that came or changed since it was looked at.
 *
 * @throws Foreign, Later
 */
export async function applyOwn(
  api: KubeApi,
  { place, fields }: DeclaredResource,
  config: ConfigVersion,
  signal: AbortSignal,
): Promise<void> {
  let before: { readonly error: Error; readonly over: object } | undefined;
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const live = await getObject(api, keyOf(place), { signal });
    if (live !== undefined) checkOurs(live, config);
    const over = onlyOver(live);
    // It is what it was: the conflict was about fields.
    if (live !== undefined && isDeepStrictEqual(before?.over, over)) throw othersFields(before!.error);
    const metadata = { ...(fields['metadata'] as object), ...over };
    try {
      const options = { fieldManager: FIELD_MANAGER, signal };
      await applyObject(api, keyOf(place), { ...fields, metadata }, options);
      return;
    } catch (error) {
      if (!isApiError(error, 409)) throw error;
      before = { error, over };
    }
  }
  throw new Later(`others keep writing it: ${before!.error.message}`);
}

/** Deletes what is ours, as it was looked at. False where there is nothing of ours. */
export async function deleteOwn(
  api: KubeApi,
  place: AppliedResource,
  config: ConfigVersion,
  signal: AbortSignal,
): Promise<boolean> {
  const live = await getObject(api, keyOf(place), { signal });
  if (live === undefined || !isOurs(live, config)) return false;
  const { uid, resourceVersion } = live.metadata;
  const is = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  return await deleteObject(api, keyOf(place), is, { signal });
}

function isOurs(live: KubeObject, config: ConfigVersion): boolean {
  return live.metadata.labels?.[MANAGED_BY] === installationLabel(config);
}

/** @throws Foreign, Later */
function checkOurs(live: KubeObject, config: ConfigVersion): void {
  if (!isOurs(live, config)) throw notOurs(live, config);
  if (isBeingDeleted(live)) throw new Later('it is being deleted, and made anew when it has gone');
}

function notOurs(live: KubeObject, config: ConfigVersion): Foreign {
  const writers = managersOf(live);
  const whose = writers.length === 0 ? '' : `, and was written by ${writers.join(', ')}`;
  return new Foreign(
    `there is one that is not ours: it lacks the label ${MANAGED_BY}=${installationLabel(config)}${whose}`,
  );
}

function othersFields(error: Error): Foreign {
  return new Foreign(`others have set fields of it: ${error.message}`, { cause: error });
}

/** Who has set fields of an object, as the server knows them. */
function managersOf({ metadata }: KubeObject): readonly string[] {
  const { managedFields } = metadata as { readonly managedFields?: unknown };
  if (!Array.isArray(managedFields)) return [];
  const names = (managedFields as readonly { readonly manager?: unknown }[]).map(({ manager }) => manager);
  return [...new Set(names.filter((name) => typeof name === 'string'))];
}
