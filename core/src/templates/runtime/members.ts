import { SiteError } from './site-error.ts';
import { kindOf } from './values.ts';

/** `object.key`: own members only, functions are no values. @throws SiteError where there is no object. */
export function get(object: unknown, key: string, site: number): unknown {
  if (typeof object === 'object' && object !== null) {
    if (!Object.hasOwn(object, key)) return undefined;
    const value = (object as Record<string, unknown>)[key];
    if (typeof value === 'function')
      throw new SiteError(site, `"${key}" is a function: it can be called, but is no value`);
    return value;
  }
  if (typeof object === 'string') return key === 'length' ? object.length : undefined;
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
  const hint = isObject ? '; use {% for key, value in … %}' : value == null ? '; say `?? []`' : '';
  throw new SiteError(site, `"{}" is ${kindOf(value)}, expected a list${hint}`);
}

/** What `for` goes through with two names: index and item, or key and value in order of keys. */
export function pairs(value: unknown, site: number): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item] as const);
  if (typeof value === 'object' && value !== null) {
    return Object.keys(value)
      .sort()
      .map((key) => [key, get(value, key, site)] as const);
  }
  const hint = value == null ? '; say `?? {}`' : '';
  throw new SiteError(site, `"{}" is ${kindOf(value)}, expected an object or a list${hint}`);
}
