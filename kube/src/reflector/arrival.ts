import type { KubeObject } from '@haptic/core/contract';
import { isDeepStrictEqual } from 'node:util';

type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Deletes the member at the end of the path, and parents that become empty by it. Freshly parsed JSON only. */
function removeField(value: unknown, names: readonly string[], at = 0): void {
  const name = names[at];
  if (name === undefined || !isFields(value) || !Object.hasOwn(value, name)) return;
  if (at === names.length - 1) {
    delete value[name];
    return;
  }
  removeField(value[name], names, at + 1);
}

function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const child of Object.values(value)) deepFreeze(child);
  Object.freeze(value);
}

/**
 * Makes an object that has just been parsed what the reflector hands on: with `apiVersion` and `kind`, which items of lists
 * lack, without `managedFields` and the ignored fields, frozen.
 */
export function arrive(
  raw: Fields,
  type: { readonly apiVersion: string; readonly kind: string },
  ignore: readonly (readonly string[])[],
): KubeObject {
  const object: Fields = {
    ...raw,
    apiVersion: raw['apiVersion'] ?? type.apiVersion,
    kind: raw['kind'] ?? type.kind,
  };
  removeField(object, ['metadata', 'managedFields']);
  for (const names of ignore) removeField(object, names);
  deepFreeze(object);
  return object as unknown as KubeObject;
}

/**
 * Whether two states of one object differ in nothing that is not ignored. `resourceVersion` moves with every write and
 * `generation` with a write to an ignored field, so neither counts.
 */
export function sameContent(a: KubeObject, b: KubeObject): boolean {
  return isDeepStrictEqual(comparable(a), comparable(b));
}

function comparable(object: KubeObject): object {
  const { resourceVersion: _version, generation: _generation, ...metadata } = object.metadata;
  return { ...object, metadata };
}
