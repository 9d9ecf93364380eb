import type { ObjectRef } from '../../contract/index.ts';
import { SiteError } from './site-error.ts';
import { kindOf } from './values.ts';

const refs = new WeakMap<object, ObjectRef>();

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The reference to a Kubernetes object, or the reference itself; undefined for anything else. */
function refOf(value: object): ObjectRef | undefined {
  const object = value as Record<string, unknown>;
  const meta = Object.hasOwn(object, 'metadata') ? object['metadata'] : object;
  if (typeof meta !== 'object' || meta === null) return undefined;
  const { name, namespace, uid } = meta as Record<string, unknown>;
  if (typeof object['kind'] !== 'string' || typeof name !== 'string') return undefined;
  return Object.freeze({
    apiVersion: text(object['apiVersion']),
    kind: object['kind'],
    namespace: text(namespace),
    name,
    ...(typeof uid === 'string' ? { uid } : {}),
  });
}

/** @throws SiteError for what is neither a Kubernetes object nor a reference to one */
export function objectRef(value: unknown, site: number): ObjectRef {
  if (typeof value === 'object' && value !== null) {
    const known = refs.get(value);
    if (known !== undefined) return known;
    const made = refOf(value);
    if (made !== undefined) {
      refs.set(value, made);
      return made;
    }
  }
  throw new SiteError(site, `expected a Kubernetes object or a reference to one, not ${kindOf(value)}`);
}

/** One object or a list of them; nothing for undefined. */
export function objectRefs(value: unknown, site: number): readonly ObjectRef[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [objectRef(value, site)];
  return value.map((item) => objectRef(item, site));
}
