import type { RE2JS } from 're2js';
import * as escape from './escape.ts';
import { guard, guardWord } from './guard.ts';
import { at, get, items, pairKey, pairs, pairValue } from './members.ts';
import * as operators from './operators.ts';
import { raw } from './raw.ts';
import type { Runtime } from './runtime.ts';
import { SiteError } from './site-error.ts';
import { kindOf } from './values.ts';
import { endWord, grow, lastWord } from './words.ts';
import { pem, plain, yamlDouble, yamlScalar, yamlSingle } from './write-text.ts';

function matches(pattern: RE2JS, value: unknown, rt: Runtime, site: number): boolean {
  if (typeof value !== 'string')
    throw new SiteError(site, `"matches" looks at a text, not at ${kindOf(value)}`);
  // Each character may be looked at in every state that the pattern has.
  rt.charge(1 + ((value.length * pattern.programSize()) >> 4), site);
  return pattern.matcher(value).find();
}

function withLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function withoutLineEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

/** Every name that compiled code may use besides `rt`, its constants and its own variables. */
export const library: Readonly<Record<string, unknown>> = {
  ...operators,
  get,
  at,
  items,
  pairs,
  pairKey,
  pairValue,
  isHarmless: escape.isHarmless,
  isHarmlessInQuotes: escape.isHarmlessInQuotes,
  bare: escape.bare,
  double: escape.double,
  single: escape.single,
  quoted: escape.quoted,
  clean: escape.clean,
  percent: escape.percent,
  noPercent: escape.noPercent,
  argument: escape.argument,
  argumentBody: escape.argumentBody,
  word: escape.word,
  guard,
  guardWord,
  raw,
  grow,
  lastWord,
  endWord,
  plain,
  pem,
  yamlScalar,
  yamlDouble,
  yamlSingle,
  matches,
  withLineEnd,
  withoutLineEnd,
};
