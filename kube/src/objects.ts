import type { KubeObject } from '@haptic/core/contract';
import { z } from 'zod';
import type { KubeApi } from './api.ts';
import { isApiError } from './api-error.ts';
import { collectionPath, objectPath, type Resource } from './resource.ts';

/** All that is taken for granted of an object; the rest is the API's business. */
const ObjectAnswer = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});

export interface ObjectKey {
  readonly resource: Resource;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** An object to be written: the server fills in what is missing. */
export interface NewObject {
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string | undefined;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. */
  readonly timeout?: number;
}

function asObject(answer: unknown): KubeObject {
  return ObjectAnswer.parse(answer);
}

function pathOf({ resource, namespace, name }: ObjectKey): string {
  return objectPath(resource, namespace, name);
}

/** Undefined when there is none. */
export async function getObject(
  api: KubeApi,
  key: ObjectKey,
  options: CallOptions = {},
): Promise<KubeObject | undefined> {
  try {
    return asObject(await api.json({ ...options, path: pathOf(key) }));
  } catch (error) {
    if (isApiError(error, 404)) return undefined;
    throw error;
  }
}

/** @throws ApiError 409 when there is one already */
export async function createObject(
  api: KubeApi,
  resource: Resource,
  object: NewObject,
  options: CallOptions = {},
): Promise<KubeObject> {
  const { namespace } = object.metadata;
  const path = collectionPath(resource, resource.namespaced ? namespace : undefined);
  // Kinds of definitions need them said, others know them from the path.
  const { apiVersion, kind } = resource;
  return asObject(
    await api.json({ ...options, method: 'POST', path, body: { apiVersion, kind, ...object } }),
  );
}

/**
 * Writes the whole object if nobody wrote it since the `resourceVersion` that it has.
 * @throws ApiError 409 when somebody did, 404 when it is gone
 */
export async function replaceObject(
  api: KubeApi,
  key: ObjectKey,
  object: object,
  options: CallOptions = {},
): Promise<KubeObject> {
  return asObject(await api.json({ ...options, method: 'PUT', path: pathOf(key), body: object }));
}

export interface ApplyOptions extends CallOptions {
  readonly fieldManager: string;
  /** Takes fields from other managers instead of failing with 409. */
  readonly force?: boolean;
  /** `status`, for example. */
  readonly subresource?: string;
}

/** Server-side apply: afterwards the manager owns exactly the fields that are given. Returns the live object. */
export async function applyObject(
  api: KubeApi,
  key: ObjectKey,
  fields: object,
  { fieldManager, force = false, subresource, ...options }: ApplyOptions,
): Promise<KubeObject> {
  const { resource, name } = key;
  const namespace = resource.namespaced ? { namespace: key.namespace } : {};
  const given = 'metadata' in fields && typeof fields.metadata === 'object' ? fields.metadata : {};
  return asObject(
    await api.json({
      ...options,
      method: 'PATCH',
      path: subresource === undefined ? pathOf(key) : `${pathOf(key)}/${subresource}`,
      query: { fieldManager, force: String(force) },
      contentType: 'application/apply-patch+yaml',
      body: {
        ...fields,
        apiVersion: resource.apiVersion,
        kind: resource.kind,
        metadata: { ...given, name, ...namespace },
      },
    }),
  );
}

export interface MergeOptions extends CallOptions {
  readonly fieldManager: string;
  /** `status`, for example. */
  readonly subresource?: string;
}

/**
 * Changes the fields that are given and leaves the others; null removes one. A `metadata.resourceVersion` among them makes it fail
 * where somebody wrote the object since.
 * @throws ApiError 409 when somebody did, 404 when it is gone
 */
export async function mergeObject(
  api: KubeApi,
  key: ObjectKey,
  fields: object,
  { fieldManager, subresource, ...options }: MergeOptions,
): Promise<KubeObject> {
  return asObject(
    await api.json({
      ...options,
      method: 'PATCH',
      path: subresource === undefined ? pathOf(key) : `${pathOf(key)}/${subresource}`,
      query: { fieldManager },
      contentType: 'application/merge-patch+json',
      body: fields,
    }),
  );
}

/** What the object must still be for a deletion to happen. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/**
 * False when there was none (any more).
 * @throws ApiError 409 when it is not what the preconditions say
 */
export async function deleteObject(
  api: KubeApi,
  key: ObjectKey,
  preconditions: Preconditions = {},
  options: CallOptions = {},
): Promise<boolean> {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy: 'Background' };
  try {
    await api.json({ ...options, method: 'DELETE', path: pathOf(key), body });
    return true;
  } catch (error) {
    if (isApiError(error, 404)) return false;
    throw error;
  }
}
