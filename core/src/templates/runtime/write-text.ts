import { pemRefusal } from './pem.ts';
import { SiteError } from './site-error.ts';
import { clean } from './escape.ts';
import { kindOf, text } from './values.ts';

/** Values in files other than HAProxy's configuration. */

/** As it is. */
export function plain(value: unknown, site: number): string {
  const result = text(value, site);
  if (result.includes('\0')) throw new SiteError(site, '"{}" holds the control character U+0000');
  if (!result.isWellFormed()) throw new SiteError(site, '"{}" holds half a surrogate pair');
  return result;
}

/** As it is, in a PEM file. */
export function pem(value: unknown, site: number): string {
  const result = text(value, site).replaceAll('\r\n', '\n');
  if (/[^\n -~]/.test(result)) throw new SiteError(site, `"{}" ${pemRefusal(result)!}`);
  return result;
}

/** A whole scalar of YAML: texts in double quotes, numbers and booleans as they are. */
export function yamlScalar(value: unknown, site: number): string {
  if (typeof value === 'object' && value !== null) {
    throw new SiteError(site, `"{}" is ${kindOf(value)}: say \`| yaml\` or \`| json\``);
  }
  const result = plain(value, site);
  return typeof value === 'string' ? escapeJson(result) : result;
}

/** Part of a scalar in double quotes. */
export function yamlDouble(value: unknown, site: number): string {
  return escapeJson(plain(value, site)).slice(1, -1);
}

/** Part of a scalar in single quotes, which has no escapes but for the quote itself. */
export function yamlSingle(value: unknown, site: number): string {
  return clean(value, site).replaceAll("'", "''");
}

/** JSON's escapes are YAML's; what YAML does not print is escaped as well. */
function escapeJson(value: string): string {
  return JSON.stringify(value).replaceAll(
    /[\x7f-\x9f\u2028\u2029\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
