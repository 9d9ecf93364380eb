import { makingCost } from './costs.ts';
import { hasMethod } from './methods.ts';
import type { StepCounter } from './step-counter.ts';
import { SiteError } from './site-error.ts';
import { kindOf } from './values.ts';

/** Undefined; a method is not missing, but was not called. */
function noMember(object: unknown, key: string, site: number): undefined {
  if (hasMethod(object, key)) {
    throw new SiteError(site, `"${key}" is a method of ${kindOf(object)}: it can be called, but is no value`);
  }
  return undefined;
}

/** `object.key`: own members only, functions are no values. @throws SiteError where there is no object. */
export function get(object: unknown, key: string, site: number): unknown {
  if (typeof object === 'object' && object !== null) {
    if (!Object.hasOwn(object, key)) return noMember(object, key, site);
    const value = (object as Record<string, unknown>)[key];
    if (typeof value === 'function')
      throw new SiteError(site, `"${key}" is a function: it can be called, but is no value`);
    return value;
  }
  if (typeof object === 'string') return key === 'length' ? object.length : noMember(object, key, site);
  if (object == null) throw new SiteError(site, `"{}" is ${kindOf(object)} and has no member "${key}"`);
  return undefined;
}

/** `object[key]` */
export function at(object: unknown, key: unknown, site: number): unknown {
  if (typeof key === 'string') return get(object, key, site);
  if (typeof key !== 'number') {
    throw new SiteError(site, `a member of "{}" is named by a text or a number, not by ${kindOf(key)}`);
  }
  if (typeof object === 'string') return object[key];
  return get(object, String(key), site);
}

/** What `for` goes through with one name. */
export function items(value: unknown, site: number): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const isObject = typeof value === 'object' && value !== null;
  const isWatch = isObject && 'list' in value && typeof value.list === 'function';
  const hint = isWatch
    ? '; use its list()'
    : isObject
      ? '; use {% for key, value in … %}'
      : value == null
        ? '; say `?? []`'
        : '';
  throw new SiteError(site, `"{}" is ${kindOf(value)}, expected a list${hint}`);
}

/** What `for` goes through with two names: a list with its indexes, or an object in order of its keys. */
export interface Pairs {
  /** Undefined: the indexes. */
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  readonly values: object;
}

export function pairs(value: unknown, rt: StepCounter, site: number): Pairs {
  if (Array.isArray(value)) return { keys: undefined, length: value.length, values: value };
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value).sort();
    rt.charge(makingCost(keys), site);
    return { keys, length: keys.length, values: value };
  }
  const hint = value == null ? '; say `?? {}`' : '';
  throw new SiteError(site, `"{}" is ${kindOf(value)}, expected an object or a list${hint}`);
}

export function pairKey({ keys }: Pairs, index: number): string | number {
  return keys === undefined ? index : keys[index]!;
}

export function pairValue({ keys, values }: Pairs, index: number, site: number): unknown {
  return keys === undefined ? (values as readonly unknown[])[index] : get(values, keys[index]!, site);
}
