import { characters, holdsOnly } from './characters.ts';
import { SiteError } from './site-error.ts';
import { text } from './values.ts';

/** Values as (parts of) words of a line of HAProxy's configuration; test/templates holds them against HAProxy. */

const control = /[\0-\x1f\x7f]/;
const special = /[\\ "'#]/g;
const specialInDouble = /[\\"$]/g;
const wordPattern = /^[\w.:/-]+$/;

const harmless = characters(/[\w.:/-]/);
const harmlessInQuotes = characters(/[\w.:/ -]/);

/** Nothing in it needs a look, whatever the place. */
export function isHarmless(value: unknown): boolean {
  return typeof value === 'string' && holdsOnly(value, harmless);
}

export function isHarmlessInQuotes(value: unknown): boolean {
  return typeof value === 'string' && holdsOnly(value, harmlessInQuotes);
}

function named(char: string): string {
  const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return `U+${code}`;
}

/** Why a value cannot stand in any line; undefined when it can. */
export function refusal(value: string): string | undefined {
  const found = control.exec(value);
  if (found !== null) return `holds the control character ${named(found[0])}`;
  return value.isWellFormed() ? undefined : 'holds half a surrogate pair';
}

/** The text of a value that goes into a line. @throws SiteError */
export function clean(value: unknown, site: number): string {
  const result = text(value, site);
  const why = refusal(result);
  if (why !== undefined) throw new SiteError(site, `"{}" ${why}`);
  return result;
}

export function bare(value: string): string {
  return value.replace(special, '\\$&');
}

export function double(value: string): string {
  return value.replace(specialInDouble, '\\$&');
}

export function single(value: string): string {
  return value.replaceAll("'", "'\\''");
}

export function quoted(value: string): string {
  return `"${double(value)}"`;
}

/** Where HAProxy reads a log-format. */
export function percent(value: string): string {
  return value.replaceAll('%', '%%');
}

/** Where nobody knows whether HAProxy reads a log-format. */
export function noPercent(value: string, site: number): string {
  if (!value.includes('%')) return value;
  throw new SiteError(
    site,
    '"{}" holds "%" where HAProxy may read a log-format: say `| fmt` if it does, `| expr` if it stays as it is',
  );
}

/** The value between the level-2 quotes of an argument of a sample expression. */
export function argumentBody(value: string): string {
  return value.replace(/[\\"]/g, '\\$&');
}

export function argument(value: string): string {
  return `"${argumentBody(value)}"`;
}

export function word(value: string, site: number): string {
  if (wordPattern.test(value)) return value;
  throw new SiteError(site, `"{}" is ${shown(value)}, expected a word of letters, digits and . : / _ -`);
}

export function shown(value: string): string {
  const short = value.length > 60 ? `${value.slice(0, 57)}…` : value;
  return JSON.stringify(short);
}
