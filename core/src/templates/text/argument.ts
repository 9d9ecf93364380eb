import { directives, families, fileKeywords, type Argument, type Directive } from './directives.ts';
import type { Word } from './word-state.ts';

/** What the word that comes next is to HAProxy. */
export interface ArgumentRole {
  /** `first`: the directive itself. */
  readonly kind: Argument | 'first';
  /** A value that begins with `-` would be read as a flag of an ACL. */
  readonly dash: boolean;
  /** Which values would be read as part of a condition: `}` in an anonymous ACL, elsewhere `or`, `!x` and their kind as well. */
  readonly operator: 'none' | 'brace' | 'any';
  /** A value may be a keyword here, and what comes after it the name of a file. */
  readonly keyword: boolean;
}

const safe = { dash: false, operator: 'none', keyword: false } as const;
/** Where the words before are not known: everything that could go wrong is refused. */
const unsure: ArgumentRole = { kind: 'unknown', dash: true, operator: 'any', keyword: true };

function isMany(word: Word | undefined): boolean {
  return word?.many === true;
}

/** The word's text when it is certain. */
function exact(word: Word | undefined): string | undefined {
  return word?.exact === true ? word.text : undefined;
}

/** `set-var-fmt(txn.x)` is the action `set-var-fmt`. Undefined: a value decides it. */
function actionOf(word: Word | undefined): string | undefined {
  if (word === undefined || word.many) return undefined;
  const paren = word.text.indexOf('(');
  if (paren !== -1) return word.text.slice(0, paren);
  return exact(word);
}

/** The directive's arguments and the index of the first; `first` words short of it are its own. */
function directiveOf(words: readonly Word[]): { directive: Directive; from: number } | undefined {
  const name = exact(words[0]);
  if (name === undefined) return undefined;
  const family = families[name];
  const plain: Directive = { positional: [], keywords: {} };
  if (family === undefined) return { directive: directives[name] ?? plain, from: 1 };
  const { before, actions } = family;
  if (words.slice(1, before + 1).some(isMany)) return undefined;
  // Still among its own words: nothing there is a log-format.
  if (words.length <= before) return { directive: plain, from: words.length };
  const action = actionOf(words[before]);
  return action === undefined ? undefined : { directive: actions[action] ?? plain, from: before + 1 };
}

/** The role of the word after `words`, all on one line, outside comments. */
export function roleOf(words: readonly Word[]): ArgumentRole {
  if (words.length === 0) return { kind: 'first', ...safe };
  const last = exact(words.at(-1));
  const found = directiveOf(words);
  const isUnsure = found === undefined || words.some(isMany);
  if (
    words[0]!.file ||
    words.at(-1)!.file ||
    last === '-f' ||
    (isUnsure && last !== undefined && fileKeywords.has(last))
  ) {
    return { ...unsure, kind: 'file' };
  }
  if (exact(words[0]) === 'acl')
    return words.length < 3 ? { kind: 'plain', ...safe } : pattern(words, 3, false);
  if (found === undefined) return inCondition(words, 1) ?? unsure;
  const { directive, from } = found;
  const rest = words.slice(from);
  const at = rest.length;
  if (rest.slice(0, directive.positional.length).some(isMany)) return unsure;
  const kind = directive.positional[at];
  if (kind !== undefined) return { kind, ...safe };
  const condition = inCondition(words, from + directive.positional.length);
  if (condition !== undefined) return condition;
  // Rules end in a condition; elsewhere `if` is a word like any other.
  const family = families[exact(words[0]) ?? ''];
  const isRule = family !== undefined && family.rule !== false;
  return { ...safe, operator: isRule ? 'any' : 'none', ...byKeyword(directive, rest) };
}

/** Arguments after the positional ones: each keyword takes its own. */
function byKeyword(
  directive: Directive,
  rest: readonly Word[],
): Pick<ArgumentRole, 'kind'> & Partial<ArgumentRole> {
  const hasKeywords = Object.keys(directive.keywords).length > 0;
  let at = directive.positional.length;
  while (at < rest.length) {
    const keyword = exact(rest[at]);
    // A value may be the keyword, and decide what comes after it.
    if (keyword === undefined && hasKeywords) return unsure;
    if (isMany(rest[at])) return { ...unsure, kind: 'plain' };
    const args = directive.keywords[keyword ?? ''] ?? [];
    const index = rest.length - at - 1;
    if (index < args.length) return { ...safe, kind: args[index]! };
    at += 1 + args.length;
  }
  return { kind: 'plain', keyword: hasKeywords };
}

/** The role within a condition, undefined before one. Everything after `if` or `unless` is plain. */
function inCondition(words: readonly Word[], from: number): ArgumentRole | undefined {
  const start = words.findIndex((word, i) => i >= from && (exact(word) === 'if' || exact(word) === 'unless'));
  if (start === -1) return undefined;
  let open = -1;
  for (let i = start + 1; i < words.length; i++) {
    const text = exact(words[i]);
    if (text === '{' || text === '!{') open = i;
    else if (text === '}') open = -1;
    else if (isMany(words[i])) return { ...unsure, kind: 'plain' };
  }
  if (open === -1) return { ...unsure, kind: 'plain', keyword: false };
  return pattern(words, open + 2, true);
}

const flagsWithArgument = new Set(['-m', '-u', '-f']);

/** Among the flags and patterns of an ACL, which begin at `from`, after the fetch. */
function pattern(words: readonly Word[], from: number, anonymous: boolean): ArgumentRole {
  const flags = words.slice(from);
  let first = true;
  for (let i = 0; i < flags.length; i++) {
    const text = exact(flags[i]);
    if (text === '--') first = false;
    else if (text !== undefined && flagsWithArgument.has(text)) i++;
    else if (text === undefined ? !isMany(flags[i]) : !text.startsWith('-')) first = false;
  }
  return { ...safe, kind: 'plain', dash: first, operator: anonymous ? 'brace' : 'none' };
}
