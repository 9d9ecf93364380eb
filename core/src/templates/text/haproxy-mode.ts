import { roleOf, type ArgumentRole } from './argument.ts';
import { fileArgument, namedByValue } from './directives.ts';
import { guardsOf, guardsAtEnd } from './guards.ts';
import { append } from './text-mode.ts';
import type { EscapeFilter, PrintedValue, TextMode, TextReport, TextShape } from './text-mode.ts';
import {
  afterText,
  afterValue,
  isSameState,
  isValued,
  LINE_START,
  mergeStates,
  openPercent,
  readText,
  SOMEWHERE,
  type WordState,
} from './word-state.ts';

/** HAProxy's configuration: every value stays one (part of one) word. */
export const haproxyMode: TextMode = {
  name: 'haproxy',
  start: (shape) => (shape === 'lines' ? LINE_START : SOMEWHERE),
  read(state, text, report) {
    let code = '';
    let written = 0;
    const next = readText(state as WordState, text, {
      mistake: ({ at, message }) => report.problem(message, at),
      wordEnds(ended, at) {
        if (guardsAtEnd(ended) !== 0) {
          // The guard looks at what is written.
          code += append(text.slice(written, at));
          written = at;
        }
        code += endOfWord(ended);
      },
    });
    return { code: code + append(text.slice(written)), state: next };
  },
  print: (state, value, report) => print(state as WordState, value, report),
  insert(state, report) {
    const before = state as WordState;
    const wrong = insertRefusal(before);
    if (wrong !== undefined) report.problem(wrong);
    return { code: 'w = lastWord(w, x);', state: afterText(before) };
  },
  merge: (a, b) => mergeStates(a as WordState, b as WordState),
  isSame: (a, b) => isSameState(a as WordState, b as WordState),
  end(state, shape, report) {
    const wrong = endRefusal(state as WordState, shape);
    if (wrong !== undefined) report.problem(wrong);
    return isValued(state as WordState) ? endOfWord(state as WordState) : '';
  },
};

/** A word of values alone must not turn out empty: HAProxy would not see it. */
function endOfWord(state: WordState): string {
  const guards = guardsAtEnd(state);
  const check = guards === 0 ? '' : `guardWord(o, ${guards}, rt, s);`;
  return check + (state.word.literal ? 'w = -1;' : 'w = endWord(w, s);');
}

/** Text that is printed within a line must leave that line as it found it. */
function endRefusal({ quote, pending, word }: WordState, shape: TextShape): string | undefined {
  if (quote === 'double' || quote === 'single') return `the text ends inside ${quote} quotes`;
  if (shape === 'lines') return undefined;
  if (quote === 'comment')
    return 'the text ends inside a comment, and so would the line that it is printed in';
  if (pending !== '') return `the text ends with "${pending.replace('x0', 'x')}"`;
  if (word.nesting.parens > 0 || word.nesting.expression) return 'the text ends inside parentheses';
  return openPercent.test(word.tail)
    ? 'the text ends with "%", which what follows it would continue'
    : undefined;
}

function insertRefusal(state: WordState): string | undefined {
  const { quote, pending, word, words } = state;
  const what = 'the text of a macro, a set block or an include';
  if (quote === 'comment') return `${what} cannot be printed in a comment`;
  if (quote !== 'bare') return `${what} cannot be printed inside quotes`;
  if (pending !== '') return `${what} cannot stand right after "${pending}"`;
  if (word.nesting.parens > 0 || word.nesting.expression)
    return `${what} cannot be printed inside parentheses`;
  const { kind } = roleOf(words);
  if (kind !== 'plain' && openPercent.test(word.tail)) return `${what} would continue the "%" before it`;
  if (kind === 'file') return `${what} cannot name a file; only path(kind, name) does`;
  if (kind === 'first') return `${what} stands alone on its line, or behind the first word`;
  return undefined;
}

function print(state: WordState, value: PrintedValue, report: TextReport) {
  if (value.filters.has('raw')) return printRaw(state, value, report);
  if (state.quote === 'comment') return { code: `o += clean(${value.code}, ${value.site});`, state };
  const role = roleOf(state.words);
  const wrong = refusal(state, role, value);
  if (wrong !== undefined) report.problem(wrong);
  const { site, filters } = value;
  const steps = checks(state, role, filters);
  const guards = guardsOf(state, role, value.isPath);
  const cleaned = guards === 0 ? `clean(x, ${site})` : `guard(clean(x, ${site}), ${guards}, ${site})`;
  const content = steps.reduce(
    (code, { name, hasSite }) => `${name}(${code}${hasSite ? `, ${site}` : ''})`,
    cleaned,
  );
  const grow = ` s = ${site};${state.word.literal ? '' : ' w = grow(w, x);'}`;
  const full = `x = ${content}; o += ${quoting(state, filters)}(x);`;
  const harmless = state.quote === 'bare' ? 'isHarmless' : 'isHarmlessInQuotes';
  // Most values hold nothing that any of the steps would look at.
  const isShort = guards === 0 && !filters.has('q') && steps.every(({ name }) => ignoresHarmless.has(name));
  const write = isShort ? `if (${harmless}(x)) o += x; else { ${full} }` : full;
  return { code: `x = ${value.code}; ${write}${grow}`, state: afterValue(state) };
}

/** An address that is the name of a file. */
const socketPath = /(?:^|,)(?:\/|(?:unix|uxst|uxdg|uxseq)@)/;

/** Steps that let letters, digits and . : / _ - (and in quotes blanks) pass as they are. */
const ignoresHarmless: ReadonlySet<string> = new Set(['percent', 'noPercent']);

function printRaw(state: WordState, value: PrintedValue, report: TextReport) {
  if (value.filters.size > 1) report.problem('"raw" stands alone: nothing else is done to the text');
  if (state.quote !== 'bare' || state.pending !== '') {
    report.problem('trusted text (| raw) is printed outside quotes, comments and escapes only');
  }
  const code = `x = raw(${value.code}, ${value.alone}, ${value.site}); o += x; w = lastWord(w, x);`;
  return { code, state: value.alone ? LINE_START : afterText(state) };
}

function quoting({ quote }: WordState, filters: ReadonlySet<EscapeFilter>): string {
  if (quote === 'bare') return filters.has('q') ? 'quoted' : 'bare';
  return quote === 'double' ? 'double' : 'single';
}

/** What is done to a value before the word's own escaping, in order. */
function checks({ word }: WordState, role: ArgumentRole, filters: ReadonlySet<EscapeFilter>) {
  const steps: { name: string; hasSite: boolean }[] = [];
  const step = (name: string, hasSite = false) => steps.push({ name, hasSite });
  if (filters.has('word')) step('word', true);
  if (filters.has('arg')) step(word.nesting.quote === '"' ? 'argumentBody' : 'argument');
  // Inside parentheses and `%[ … ]` stands an expression, where "%" is a character like any other.
  const inExpression = word.nesting.expression || (word.nesting.parens > 0 && role.kind !== 'format');
  if (filters.has('fmt')) step('percent');
  else if (!filters.has('expr') && !filters.has('word') && !inExpression) {
    if (role.kind === 'format') step('percent');
    else if (role.kind === 'unknown') step('noPercent', true);
  }
  return steps;
}

/** Why no value can stand here, or not this one without saying more. */
function refusal(
  state: WordState,
  role: ArgumentRole,
  { filters, isPath }: PrintedValue,
): string | undefined {
  const { quote, pending, word } = state;
  if (pending === '${') return 'a value cannot stand inside "${…}"';
  if (pending !== '') return `a value cannot stand right after "${pending.replace('x0', 'x')}"`;
  if (filters.has('q') && quote !== 'bare') return '"q" quotes the value itself: it stands outside quotes';
  if (filters.has('fmt') && filters.has('expr')) return '"fmt" and "expr" contradict each other';
  const isFile =
    role.kind === 'file' ||
    (word.nesting.parens > 0 &&
      (fileArgument.test(word.tail) || (!word.exact && namedByValue.test(word.tail)))) ||
    (role.kind === 'address' && socketPath.test(word.text));
  if (isFile && !isPath) return 'HAProxy opens this file: only path(kind, name) names one';
  if (role.kind === 'first' && !filters.has('word')) {
    return 'a value as first word of a line is a directive: say `| word` when it is one word of letters, digits and . : / _ -';
  }
  if (isPath) return undefined;
  return expressionRefusal(state, role, filters);
}

function expressionRefusal({ word }: WordState, role: ArgumentRole, filters: ReadonlySet<EscapeFilter>) {
  const { parens, quote, expression } = word.nesting;
  const mayBeFormat = role.kind === 'format' || role.kind === 'unknown';
  const inExpression = expression || (parens > 0 && role.kind !== 'format');
  if (inExpression) {
    if (!filters.has('arg') && !filters.has('word') && !filters.has('expr')) {
      return 'a value inside an expression: say `| arg` (any text), `| word`, or `| regex | arg` (a regular expression for just this text)';
    }
    if (filters.has('arg') && quote === "'") return 'a value for `| arg` stands in double quotes, or in none';
    if (!filters.has('arg') && filters.has('expr') && quote !== '')
      return '"expr" stands outside inner quotes';
    return undefined;
  }
  if (filters.has('arg')) return '"arg" is for arguments of expressions, inside their parentheses';
  if (mayBeFormat && openPercent.test(word.tail))
    return 'a value would continue the "%" before it: write "%%", or a space between';
  return undefined;
}
