import { deepFreeze } from '../values/deep-freeze.ts';
import { Refused, withoutField, type KubeObject } from '../contract/index.ts';

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Server-side bookkeeping that changes with every write and says nothing about the object. */
const MANAGED_FIELDS = ['metadata', 'managedFields'];

/**
 * An object as the store keeps it: without what is to be ignored, and deep-frozen.
 * @throws Refused for an object without a usable name: it could not be found again.
 */
export function arrive(
  watch: string,
  object: KubeObject,
  ignore: readonly (readonly string[])[],
): KubeObject {
  const name: unknown = object.metadata?.name;
  if (typeof name !== 'string' || name === '') {
    throw new Refused(`an object of watch "${watch}" has no metadata.name`);
  }
  let kept: Fields = withoutField(object, MANAGED_FIELDS);
  for (const path of ignore) kept = withoutField(kept, path);
  return deepFreeze(kept as KubeObject);
}

function equalFields(a: Fields, b: Fields, skip: string | undefined): boolean {
  const keys = Object.keys(a);
  const surplus = skip === undefined ? 0 : Number(Object.hasOwn(b, skip)) - Number(Object.hasOwn(a, skip));
  if (keys.length !== Object.keys(b).length - surplus) return false;
  return keys.every((key) => key === skip || (Object.hasOwn(b, key) && equalJson(a[key], b[key])));
}

function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  }
  return isFields(a) && isFields(b) && equalFields(a, b, undefined);
}

/**
 * Whether two states of one object say the same. `metadata.resourceVersion` is left out: it moves with every write, also with one
 * that only touched ignored fields.
 */
export function sameContent(a: KubeObject, b: KubeObject): boolean {
  if (!equalFields(a, b, 'metadata')) return false;
  return equalFields(a.metadata as unknown as Fields, b.metadata as unknown as Fields, 'resourceVersion');
}
