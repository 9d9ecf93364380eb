import { guards, operators } from '../runtime/guard.ts';
import { roleOf, type ArgumentRole } from './argument.ts';
import { fileKeywords, sectionKeywords } from './directives.ts';
import type { WordState } from './word-state.ts';

/** What a word of values must not turn out to be, as a sum of `guards`, by what it is to HAProxy. */
function guardsOfRole({ kind, dash, operator, keyword }: ArgumentRole): number {
  return (
    (kind === 'first' ? guards.section : 0) +
    (dash ? guards.flag : 0) +
    (operator === 'any' ? guards.operator : operator === 'brace' ? guards.brace : 0) +
    (keyword ? guards.keyword : 0)
  );
}

/** Guards of a value on its own: where it begins its word. */
export function guardsOf({ word }: WordState, role: ArgumentRole, isPath: boolean): number {
  const address = role.kind === 'address' && !isPath ? guards.address : 0;
  return address + (word.literal ? 0 : guardsOfRole(role));
}

/** Guards of a word that has more in it than one value: together they may be what none of them is. */
export function guardsAtEnd({ word, words }: WordState): number {
  if (!word.mixed) return 0;
  const all = guardsOfRole(roleOf(words));
  const { text } = word;
  if (all === 0 || text === '') return all;
  // The word begins with text of the template.
  const begins = (list: Iterable<string>): boolean => [...list].some((item) => item.startsWith(text));
  const negated = text.startsWith('!') && (all & guards.operator) !== 0;
  const possible =
    (begins(sectionKeywords) || text.startsWith('.') ? guards.section : 0) +
    (text.startsWith('-') ? guards.flag : 0) +
    (begins(operators) && !negated ? guards.operator : 0) +
    (text.startsWith('}') ? guards.brace : 0) +
    (begins(fileKeywords) ? guards.keyword : 0);
  return (all & possible) + (negated ? guards.negated : 0);
}
