import { LINE_START, readText, SOMEWHERE } from '../text/word-state.ts';
import { SiteError } from './site-error.ts';
import { text } from './values.ts';

/** Trusted text, not escaped; it must leave the line outside quotes, as it found it. @throws SiteError */
export function raw(value: unknown, alone: boolean, site: number): string {
  const result = text(value, site);
  if (!alone && result.includes('\n')) {
    throw new SiteError(site, '"{}" has line breaks and may only stand alone on its line');
  }
  const mistake = (why: { readonly message: string }): never => {
    throw new SiteError(site, `in "{}": ${why.message}`);
  };
  const end = readText(alone ? LINE_START : SOMEWHERE, result, { mistake, wordEnds: () => undefined });
  const isOpen = end.quote === 'double' || end.quote === 'single' || end.pending !== '';
  if (isOpen || (end.quote === 'comment' && !alone)) {
    throw new SiteError(site, '"{}" ends inside quotes, a comment or an escape');
  }
  // The line end of a text alone on its line is written anyway.
  return alone && result.endsWith('\n') ? result.slice(0, -1) : result;
}
