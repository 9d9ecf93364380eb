import { roleOf, type ArgumentRole } from './argument.ts';
import { fileArgument, namedByValue, namesFile } from './directives.ts';

/**
 * Where HAProxy's reader of lines stands: which words of the line are complete, what is known of the word at hand, and
 * whether it is inside quotes. Immutable; the compiler carries it along the text of a template.
 */
export interface WordState {
  readonly quote: Quote;
  /** Complete words of this line. */
  readonly words: readonly Word[];
  readonly word: OpenWord;
  /** What the text ended with: a backslash, a dollar and their kind, after which no value may stand. */
  readonly pending: Pending;
}

export type Quote = 'bare' | 'double' | 'single' | 'comment';
export type Pending = '' | '\\' | '\\x' | '\\x0' | '$' | '${';

/** One word, or `many`: an unknown number of unknown words. */
export interface Word {
  /** The known text at its beginning, decoded. */
  readonly text: string;
  /** Nothing follows `text`. */
  readonly exact: boolean;
  readonly many?: true;
  /** It may be one that is followed by the name of a file. */
  readonly file?: boolean;
}

export interface OpenWord {
  readonly begun: 'no' | 'yes' | 'maybe';
  readonly text: string;
  readonly exact: boolean;
  /** A value may be in it. */
  readonly valued: boolean;
  /** A value may be in it, and something besides that value. */
  readonly mixed: boolean;
  /** Of several ways that led here, one left a word that is followed by the name of a file. */
  readonly file: boolean;
  /** It certainly has a character of the template's own. */
  readonly literal: boolean;
  /** What the template's own text ended with, decoded, since the last value: says whether a value continues a `%alias`. */
  readonly tail: string;
  readonly nesting: Nesting;
}

/** Parentheses of sample expressions and quotes inside them (level 2), and `%[ … ]`. */
export interface Nesting {
  readonly parens: number;
  readonly quote: '' | '"' | "'";
  readonly escaped: boolean;
  /** Inside `%[`. */
  readonly expression: boolean;
}

const flat: Nesting = { parens: 0, quote: '', escaped: false, expression: false };
const noWord: OpenWord = {
  begun: 'no',
  text: '',
  exact: true,
  valued: false,
  mixed: false,
  file: false,
  literal: false,
  tail: '',
  nesting: flat,
};
const MANY_WORDS: Word = { text: '', exact: false, many: true };

/** At the beginning of a line. */
export const LINE_START: WordState = { quote: 'bare', words: [], word: noWord, pending: '' };
/** Somewhere on a line, outside quotes: where text that is printed elsewhere begins. */
export const SOMEWHERE: WordState = {
  quote: 'bare',
  words: [MANY_WORDS],
  word: { ...noWord, begun: 'maybe' },
  pending: '',
};

/** Characters of the known text of a word that are kept: more than any keyword has. */
const KEPT = 200;

/** HAProxy reads no more words of a line. */
const MOST_WORDS = 64;

/** An odd number of "%" at the end. */
const opensExpression = /(?:^|[^%])(?:%%)*%$/;

/** `%[` in a log-format: an expression begins, whatever parentheses and quotes the text before it has. */
function beginExpression(nesting: Nesting, kind: ArgumentRole['kind']): Nesting {
  const isSure = kind === 'format' || nesting.parens === 0;
  // Log-format or argument in quotes: nobody knows, so no value can be written (single quotes admit none).
  return { parens: 0, quote: isSure ? '' : "'", escaped: false, expression: true };
}

function nest(nesting: Nesting, char: string, tail: string, words: readonly Word[]): Nesting {
  const { parens, quote, escaped, expression } = nesting;
  if (char === '[' && !expression && opensExpression.test(tail)) {
    const { kind } = roleOf(words);
    if (kind === 'format' || kind === 'unknown') return beginExpression(nesting, kind);
  }
  if (parens > 0) {
    if (escaped) return { ...nesting, escaped: false };
    if (char === '\\' && quote !== "'") return { ...nesting, escaped: true };
    if (quote !== '') return char === quote ? { ...nesting, quote: '' } : nesting;
    if (char === '"' || char === "'") return { ...nesting, quote: char };
  }
  if (char === '(') {
    // Outside `%[ … ]` a log-format is text, and its parentheses mean nothing.
    return !expression && roleOf(words).kind === 'format' ? nesting : { ...nesting, parens: parens + 1 };
  }
  if (char === ')') return { ...nesting, parens: Math.max(0, parens - 1) };
  if (char === ']' && parens === 0 && expression) return { ...nesting, quote: '', expression: false };
  return nesting;
}

function withChar(word: OpenWord, char: string, words: readonly Word[]): OpenWord {
  const known = word.exact && word.begun !== 'maybe' && word.text.length < KEPT;
  return {
    begun: 'yes',
    text: known ? word.text + char : word.text,
    exact: known,
    valued: word.valued,
    mixed: word.mixed || word.valued,
    file: false,
    literal: true,
    tail: (word.tail + char).slice(-KEPT),
    nesting: nest(word.nesting, char, word.tail, words),
  };
}

function endWord(state: WordState): WordState {
  const { word, words } = state;
  if (word.begun === 'no') return state;
  // What comes behind too many of them is refused anyway.
  if (words.length > MOST_WORDS) return { ...state, word: noWord };
  const kind = word.begun === 'maybe' ? MANY_WORDS : { text: word.text, exact: word.exact };
  const ended: Word = word.file ? { ...kind, file: true } : kind;
  return { ...state, words: [...words, ended], word: noWord };
}

/** After a value that became one (part of one) word. */
export function afterValue(state: WordState): WordState {
  if (state.quote === 'comment') return state;
  const mixed = state.word.mixed || state.word.begun !== 'no';
  return { ...state, word: { ...state.word, begun: 'yes', exact: false, valued: true, mixed, tail: '' } };
}

/** After text that was printed into the line: any number of words, outside quotes. */
export function afterText(state: WordState): WordState {
  return {
    ...state,
    words: [...state.words, MANY_WORDS],
    word: { ...noWord, begun: 'maybe', valued: true, mixed: true },
  };
}

export interface Mistake {
  /** Offset in the text that was read. */
  readonly at: number;
  readonly message: string;
}

/** A value may be (part of) the word at hand. */
export function isValued({ word }: WordState): boolean {
  return word.begun !== 'no' && !word.exact;
}

/** Reads text of the template's own. `wordEnds` hears where a word ends that a value may be part of. */
export function readText(
  state: WordState,
  text: string,
  report: { mistake(mistake: Mistake): void; wordEnds(state: WordState, at: number): void },
): WordState {
  let current = state;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (isValued(current) && endsWord(current, char)) report.wordEnds(current, at);
    if (char === '\0') report.mistake({ at, message: 'a NUL character cannot stand in a configuration' });
    if (char === '\n' && (current.quote === 'double' || current.quote === 'single')) {
      report.mistake({ at, message: `the line ends inside ${current.quote} quotes` });
    }
    const before = current.words.length;
    current = step(current, char);
    if (current.words.length > MOST_WORDS && before <= MOST_WORDS)
      report.mistake({ at, message: `HAProxy reads ${MOST_WORDS} words of a line, and this one has more` });
  }
  return current;
}

function endsWord({ quote, pending }: WordState, char: string): boolean {
  if (char === '\n') return true;
  return quote === 'bare' && pending !== '\\' && isSeparator(char);
}

function isSeparator(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\v' || char === '\f' || char === '\r' || char === '#';
}

function step(state: WordState, char: string): WordState {
  if (char === '\n') return LINE_START;
  if (state.quote === 'comment') return state;
  if (state.quote === 'single') return single(state, char);
  if (state.pending.startsWith('\\')) return escaped(state, char);
  return state.quote === 'double' ? double(state, char) : bare(state, char);
}

function append(state: WordState, char: string, pending: Pending = ''): WordState {
  return { ...state, pending, word: withChar(state.word, char, state.words) };
}

/** Quotes begin a word and add nothing to it. */
function turn(state: WordState, quote: Quote): WordState {
  const { word } = state;
  return { ...state, quote, pending: '', word: { ...word, begun: word.begun === 'no' ? 'yes' : word.begun } };
}

function single(state: WordState, char: string): WordState {
  return char === "'" ? turn(state, 'bare') : append(state, char);
}

function double(state: WordState, char: string): WordState {
  if (state.pending === '${') return char === '}' ? append(state, char) : append(state, char, '${');
  if (char === '"') return turn(state, 'bare');
  if (char === '\\') return { ...state, pending: '\\' };
  if (char === '{' && state.pending === '$') return append(state, char, '${');
  return append(state, char, char === '$' ? '$' : '');
}

function bare(state: WordState, char: string): WordState {
  if (char === '#') return { ...endWord(state), quote: 'comment', pending: '' };
  if (isSeparator(char)) return { ...endWord(state), pending: '' };
  if (char === '"') return turn(state, 'double');
  if (char === "'") return turn(state, 'single');
  if (char === '\\') return { ...state, pending: '\\' };
  return append(state, char, char === '$' ? '$' : '');
}

const namedEscapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** After a backslash. What `\xNN` stands for does not matter here, only that it is a character. */
function escaped(state: WordState, char: string): WordState {
  if (state.pending === '\\x') return append({ ...state, pending: '' }, '?', '\\x0');
  if (state.pending === '\\x0') return { ...state, pending: '' };
  if (char === 'x') return { ...state, pending: '\\x' };
  const plain = '\\"\'# '.includes(char) || (state.quote === 'double' && char === '$');
  const named = namedEscapes[char];
  if (plain || named !== undefined) return append(state, named ?? char);
  return append(append(state, '\\'), char);
}

/** A lone "%" or a `%alias` that a value would continue. */
export const openPercent = /(?:^|[^%])(?:%%)*%(?:[-+]*[a-zA-Z]*|\{[^}]*\}?[a-zA-Z]*)$/;

/** How many things a value right after this text of the template could be taken for. */
function dangersOf(tail: string): number {
  return [openPercent, fileArgument, namedByValue].filter((danger) => danger.test(tail)).length;
}

/** One state for two ways to the same place; undefined where they differ in what a value there would be. */
export function mergeStates(a: WordState, b: WordState): WordState | undefined {
  if (a === b) return a;
  if (a.quote !== b.quote || a.pending !== b.pending) return undefined;
  const word = mergeWords(a.word, b.word);
  if (word === undefined) return undefined;
  const words = mergeLists(a.words, b.words);
  return { quote: a.quote, pending: a.pending, words, word };
}

function mergeWords(a: OpenWord, b: OpenWord): OpenWord | undefined {
  // A value would have to be written in one way here, and in another there.
  if (JSON.stringify(a.nesting) !== JSON.stringify(b.nesting)) return undefined;
  const isSame = a.text === b.text && a.exact === b.exact && a.begun === b.begun;
  return {
    begun: a.begun === b.begun ? a.begun : 'maybe',
    text: isSame ? a.text : '',
    exact: isSame && a.exact,
    literal: a.literal && b.literal,
    valued: a.valued || b.valued,
    mixed: a.mixed || b.mixed,
    file: a.file || b.file || (!isSame && (namesFile(a.text) || namesFile(b.text))),
    tail: dangersOf(a.tail) >= dangersOf(b.tail) ? a.tail : b.tail,
    nesting: a.nesting,
  };
}

function isSameWord(a: Word | undefined, b: Word | undefined): boolean {
  return a?.text === b?.text && a?.exact === b?.exact && a?.many === b?.many && a?.file === b?.file;
}

function mergeLists(a: readonly Word[], b: readonly Word[]): readonly Word[] {
  let common = 0;
  while (common < a.length && common < b.length && isSameWord(a[common], b[common])) common++;
  if (common === a.length && common === b.length) return a;
  const rest =
    a.length === b.length
      ? a.slice(common).map((word, i) => mergeWord(word, b[common + i]!))
      : [mergeWord(a.at(-1) ?? MANY_WORDS, b.at(-1) ?? MANY_WORDS, true)];
  const merged = [...a.slice(0, common), ...rest];
  // One `many` says it all; more of them would let a loop's states grow for ever.
  const isRepeated = (word: Word, before: Word | undefined): boolean =>
    word.many === true && before?.many === true && (word.file !== true || before.file === true);
  return merged.filter((word, i) => !isRepeated(word, merged[i - 1]));
}

function mergeWord(a: Word, b: Word, many = a.many === true || b.many === true): Word {
  if (!many && isSameWord(a, b)) return a;
  const file = a.file === true || b.file === true || namesFile(a.text) || namesFile(b.text);
  return { text: '', exact: false, ...(many && { many: true as const }), ...(file && { file }) };
}

export function isSameState(a: WordState, b: WordState): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
