import { SiteError } from './site-error.ts';

/**
 * Compiled text counts the characters that values gave to the word at hand (-1: no value yet), because a word that is made of
 * values alone must not turn out empty: HAProxy would not see it, and all words behind it would move.
 */

export function grow(length: number, value: string): number {
  return length < 0 ? value.length : length + value.length;
}

/** After made text, which may have ended words of its own. */
export function lastWord(length: number, text: string): number {
  const end = Math.max(text.lastIndexOf(' '), text.lastIndexOf('\t'), text.lastIndexOf('\n'));
  if (end === -1) return grow(length, text);
  return end === text.length - 1 ? -1 : text.length - end - 1;
}

/** Where a word of values ends. @throws SiteError when it is empty */
export function endWord(length: number, site: number): number {
  if (length !== 0) return -1;
  throw new SiteError(site, '"{}" is empty, and with it the whole word: HAProxy would not see it');
}
