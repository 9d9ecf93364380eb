import { fileKeywords, sectionKeywords } from '../text/directives.ts';
import { LINE_START, readText } from '../text/word-state.ts';
import { shown } from './escape.ts';
import type { StepCounter } from './step-counter.ts';
import { SiteError } from './site-error.ts';

/** What a word that a value made must not be, as bits. */
export const guards = {
  /** A word that begins another section, or a condition of the configuration itself (`.if`). */
  section: 1,
  /** A flag of an ACL. */
  flag: 2,
  /** Part of a condition. */
  operator: 4,
  /** The end of an anonymous ACL. */
  brace: 8,
  /** A keyword after which HAProxy names a file. */
  keyword: 16,
  /** An address that names a file; of single values only. */
  address: 32,
  /** What stands behind a `!` of the template. */
  negated: 64,
} as const;

export const operators: ReadonlySet<string> = new Set(['{', '}', '!{', '||', 'or', 'if', 'unless', '!']);

const familyOfSocket = /(?:^|,)(?!(?:quic|stream\+|dgram\+)?(?:ipv|udp|tcp|quic)[46]?@)[^,@]*@/;

function refusal(word: string, bits: number): string | undefined {
  const has = (guard: number): boolean => (bits & guard) !== 0;
  if (has(guards.flag) && word.startsWith('-')) return 'read as a flag: write "--" before it';
  if (has(guards.operator) && (operators.has(word) || word.startsWith('!')))
    return 'read as part of a condition';
  if (has(guards.brace) && word === '}') return 'read as the end of the condition';
  if (has(guards.keyword) && fileKeywords.has(word)) return 'follow by the name of a file to open';
  if (has(guards.section) && (sectionKeywords.has(word) || word.startsWith('.')))
    return 'read as the beginning of another section or condition';
  if (has(guards.address) && (word.includes('/') || familyOfSocket.test(word)))
    return 'take for the name of a file or socket; only path(kind, name) names one';
  const behind = word.slice(1);
  if (has(guards.negated) && (behind === '' || behind === '{' || behind.startsWith('!')))
    return 'read as part of a condition';
  return undefined;
}

/** The value, when it can stand where it would be a whole word. @throws SiteError */
export function guard(value: string, bits: number, site: number): string {
  const why = refusal(value, bits);
  if (why === undefined) return value;
  throw new SiteError(site, `"{}" is ${shown(value)}, which HAProxy would ${why}`);
}

/** The word that `output` ends with, when values and text made it together. @throws SiteError */
export function guardWord(output: string, bits: number, rt: StepCounter, site: number): void {
  const line = output.slice(output.lastIndexOf('\n') + 1);
  // To look at the end of text that was appended to copies it.
  rt.charge(line.length + (output.length >> 8), site);
  const { word } = readText(LINE_START, line, { mistake: () => undefined, wordEnds: () => undefined });
  const why = word.exact ? refusal(word.text, bits) : undefined;
  if (why === undefined) return;
  throw new SiteError(site, `with "{}" the word is ${shown(word.text)}, which HAProxy would ${why}`);
}
