import { append } from './text-mode.ts';
import type { PrintedValue, TextMode, TextReport } from './text-mode.ts';

/** Where a text stands in YAML, as far as a writer of scalars must know it. */
interface YamlState {
  readonly place: 'start' | 'scalar' | 'double' | 'single' | 'comment' | 'block' | 'done';
  /** Blanks at the beginning of the line. */
  readonly indent: number;
  /** The line has nothing else yet. */
  readonly isBlank: boolean;
  /** The line has a bracket: commas separate values. */
  readonly inFlow: boolean;
  /** What the line ends with so far; a value counts as one `\0`. */
  readonly tail: string;
  /** Indentation of the line that opened a block scalar (`key: |`); deeper lines are its content. */
  readonly block: number | undefined;
  readonly escaped: boolean;
}

/** Characters of a line that are kept: more than any indicator has, and the same for a line of any length. */
const KEPT = 100;

const lineStart: YamlState = {
  place: 'start',
  indent: 0,
  isBlank: true,
  inFlow: false,
  tail: '',
  block: undefined,
  escaped: false,
};
const opensBlock = /(?:^|[\s:-])[|>][-+0-9]*\s*(?:#.*)?$/;

function withChar(state: YamlState, char: string): YamlState {
  const isBlank = state.isBlank && (char === ' ' || char === '\t');
  return {
    ...state,
    indent: isBlank ? state.indent + 1 : state.indent,
    isBlank,
    inFlow: state.inFlow || char === '[' || char === '{',
    tail: (state.tail + char).slice(-KEPT),
  };
}

function endLine(state: YamlState, report: TextReport, at: number): YamlState {
  if (state.place === 'double' || state.place === 'single') {
    report.problem(`the line ends inside ${state.place} quotes`, at);
    return lineStart;
  }
  if (state.block !== undefined && (state.place === 'block' || state.isBlank)) {
    return { ...lineStart, block: state.block };
  }
  const opens = state.place !== 'comment' && opensBlock.test(state.tail);
  return opens ? { ...lineStart, block: state.indent } : lineStart;
}

function quotedChar(state: YamlState, char: string): YamlState {
  const next = { ...withChar(state, char), escaped: false };
  if (state.escaped) return next;
  if (state.place === 'double' && char === '\\') return { ...next, escaped: true };
  const closes = char === (state.place === 'double' ? '"' : "'");
  return closes ? { ...next, place: 'done' } : next;
}

function step(state: YamlState, char: string, report: TextReport, at: number): YamlState {
  if (char === '\n') return endLine(state, report, at);
  const next = withChar(state, char);
  const { place, tail, block } = state;
  if (place === 'comment' || place === 'block') return next;
  if (place === 'double' || place === 'single') return quotedChar(state, char);
  const isBlank = char === ' ' || char === '\t';
  if (block !== undefined && state.isBlank && !isBlank && state.indent > block)
    return { ...next, place: 'block' };
  if (char === '#' && (tail === '' || /\s$/.test(tail)))
    return { ...next, place: 'comment', block: undefined };
  if (place === 'start') return afterStart(next, char, isBlank);
  return afterScalar(next, char, isBlank, report, at);
}

/** Where a scalar may begin. */
function afterStart(next: YamlState, char: string, isBlank: boolean): YamlState {
  const known = { ...next, block: isBlank ? next.block : undefined };
  if (isBlank || '[{,'.includes(char)) return known;
  if (char === '"') return { ...known, place: 'double' };
  if (char === "'") return { ...known, place: 'single' };
  return { ...known, place: char === ']' || char === '}' ? 'done' : 'scalar' };
}

function afterScalar(
  next: YamlState,
  char: string,
  isBlank: boolean,
  report: TextReport,
  at: number,
): YamlState {
  // `key: `, `- `, `? `: what comes next is a value of its own.
  if (isBlank && /(?:^|\s)[-?]\s$|:\s$/.test(next.tail)) return { ...next, place: 'start' };
  if (next.place === 'done') {
    if ('[{,'.includes(char)) return { ...next, place: 'start' };
    if (!isBlank && !':]}'.includes(char))
      report.problem('text right behind a value: put quotes around both', at);
    return next;
  }
  return next.inFlow && '[{,'.includes(char) ? { ...next, place: 'start' } : next;
}

const WRITERS: Readonly<Record<YamlState['place'], string>> = {
  start: 'yamlScalar',
  scalar: 'yamlScalar',
  done: 'yamlScalar',
  double: 'yamlDouble',
  single: 'yamlSingle',
  comment: 'clean',
  block: 'clean',
};

function print(state: YamlState, value: PrintedValue, report: TextReport) {
  const { place, block } = state;
  const inBlock = place === 'block' || (block !== undefined && place === 'start' && state.indent > block);
  for (const filter of value.filters) {
    if (filter !== 'raw')
      report.problem(`"${filter}" is about HAProxy's configuration; in YAML, values quote themselves`);
  }
  if (!inBlock && (place === 'scalar' || place === 'done')) {
    report.problem('a value inside a scalar without quotes: put double quotes around all of it');
  }
  const isRaw = value.filters.has('raw') || (value.isYaml && !inBlock && place === 'start');
  const writer = isRaw ? 'plain' : inBlock ? 'clean' : WRITERS[place];
  const nextPlace = inBlock ? 'block' : place === 'start' || place === 'scalar' ? 'done' : place;
  const next: YamlState = { ...withChar(state, '\0'), place: nextPlace, escaped: false };
  return { code: `o += ${writer}(${value.code}, ${value.site});`, state: next };
}

/** Kubernetes resources: an interpolated text becomes one quoted scalar, or part of a quoted one. */
export const yamlMode: TextMode = {
  name: 'yaml',
  start: () => lineStart,
  read(state, text, report) {
    let current = state as YamlState;
    for (let at = 0; at < text.length; at++) current = step(current, text[at]!, report, at);
    return { code: append(text), state: current };
  },
  print: (state, value, report) => print(state as YamlState, value, report),
  insert(state, report) {
    const { place } = state as YamlState;
    if (place !== 'start')
      report.problem('the text of a macro, a set block or an include stands where a value begins');
    return { code: '', state: { ...(state as YamlState), place: 'done' } };
  },
  merge(a, b) {
    const left = a as YamlState;
    const right = b as YamlState;
    if (left.block !== right.block || left.escaped !== right.escaped) return undefined;
    if (left.indent !== right.indent && left.isBlank !== right.isBlank) return undefined;
    const joined = {
      ...left,
      indent: Math.max(left.indent, right.indent),
      isBlank: left.isBlank && right.isBlank,
      inFlow: left.inFlow || right.inFlow,
      tail: left.tail.length >= right.tail.length ? left.tail : right.tail,
    };
    if (left.place === right.place) return joined;
    const places = [left.place, right.place];
    const isComplete = places.every((place) => place === 'done' || place === 'scalar');
    return isComplete ? { ...joined, place: 'done' } : undefined;
  },
  isSame(a, b) {
    const left = a as YamlState;
    const right = b as YamlState;
    return left.place === right.place && left.block === right.block && left.escaped === right.escaped;
  },
  end(state, _shape, report) {
    const { place } = state as YamlState;
    if (place === 'double' || place === 'single') report.problem(`the text ends inside ${place} quotes`);
    return '';
  },
};
