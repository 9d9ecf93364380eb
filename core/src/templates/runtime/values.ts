import { limits } from './limits.ts';
import { SiteError } from './site-error.ts';

/** How messages name the kind of a value. */
export function kindOf(value: unknown): string {
  if (value == null) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : String(value);
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'function' ? 'a function' : 'an object';
}

/** The text of a value that can be printed. @throws SiteError */
export function text(value: unknown, site: number): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  const isData = typeof value === 'object' && value !== null;
  const hint =
    value == null ? '; say what stands for it: ?? "…"' : isData ? '; say which part of it, or `| json`' : '';
  throw new SiteError(site, `"{}" is ${kindOf(value)}, which cannot be printed or joined${hint}`);
}

/** A text value that was made longer. @throws SiteError beyond the limit */
export function bounded(value: string, site: number): string {
  if (value.length > limits.text)
    throw new SiteError(site, `"{}" becomes longer than ${limits.text} characters`);
  return value;
}

export function boundedList<T>(list: readonly T[], site: number): readonly T[] {
  if (list.length > limits.list) throw new SiteError(site, `"{}" becomes longer than ${limits.list} items`);
  return list;
}
