import { literalKeys } from '../expression/ast.ts';
import { SyntaxProblem } from '../problems.ts';
import type { IncludeNode, MacroNode, Node, StatementNode } from './nodes.ts';
import type { TagReader } from './tag-reader.ts';

/** What a tag's author gets to know of where it stands. */
export interface TagContext {
  readonly start: number;
  readonly end: number;
  readonly alone: boolean;
  /** Parses nodes up to one of the closing tags, which it eats. */
  body(...closers: readonly string[]): { readonly nodes: readonly Node[]; readonly closer: Closer };
}

/** The tag that ended a body; only `elif` has content. */
export interface Closer {
  readonly name: string;
  readonly reader: TagReader;
  readonly start: number;
}

/** Each is nested in the one before it, to whoever compiles it. */
const MOST_BRANCHES = 200;

type TagParser = (reader: TagReader, context: TagContext) => StatementNode;

function at({ start, end, alone }: TagContext) {
  return { start, end, alone };
}

/** A body with one closing tag. */
function wholeBody(context: TagContext, closer: string): readonly Node[] {
  return context.body(closer).nodes;
}

const ifTag: TagParser = (reader, context) => {
  const branches = [];
  let otherwise: readonly Node[] | undefined;
  let test = reader.expression();
  let start = context.start;
  for (;;) {
    const { nodes, closer } = context.body('elif', 'else', 'endif');
    branches.push({ test, body: nodes, start, end: closer.start });
    if (closer.name === 'elif') {
      if (branches.length === MOST_BRANCHES)
        throw new SyntaxProblem(closer.start, `an {% if %} has at most ${MOST_BRANCHES} branches`);
      test = closer.reader.expression();
      start = closer.start;
      continue;
    }
    if (closer.name === 'else') otherwise = wholeBody(context, 'endif');
    return { kind: 'if', branches, otherwise, ...at(context) };
  }
};

const forTag: TagParser = (reader, context) => {
  const names = [reader.name('a name: {% for item in list %}')];
  if (reader.eat(',')) names.push(reader.name('a second name: {% for key, value in object %}'));
  reader.expect('in');
  const list = reader.expression();
  const { nodes, closer } = context.body('else', 'endfor');
  const otherwise = closer.name === 'else' ? wholeBody(context, 'endfor') : undefined;
  return { kind: 'for', names, list, body: nodes, otherwise, ...at(context) };
};

const setTag: TagParser = (reader, context) => {
  const name = reader.name('a name: {% set name = value %}');
  if (reader.isAtEnd) return { kind: 'set-block', name, body: wholeBody(context, 'endset'), ...at(context) };
  reader.expect('=');
  return { kind: 'set', name, value: reader.expression(), ...at(context) };
};

const macroTag: TagParser = (reader, context) => {
  const name = reader.name('a name: {% macro name(a, b = 1) %}');
  reader.expect('(');
  const parameters: MacroNode['parameters'][number][] = [];
  while (!reader.eat(')')) {
    const parameter = reader.name('the name of a parameter or ")"');
    const fallback = reader.eat('=') ? reader.expressionPrefix() : undefined;
    const last = parameters.at(-1);
    if (last?.fallback !== undefined && fallback === undefined) {
      throw new SyntaxProblem(
        parameter.start,
        'a parameter without a default cannot follow one with a default',
      );
    }
    parameters.push({ name: parameter, fallback });
    if (reader.eat(')')) break;
    reader.expect(',');
  }
  reader.expectEnd();
  return { kind: 'macro', name, parameters, body: wholeBody(context, 'endmacro'), ...at(context) };
};

const includeTag: TagParser = (reader, context) => {
  const snippet = reader.quoted('the name of a snippet');
  const handed: IncludeNode['handed'][number][] = [];
  if (reader.eat('with')) {
    const start = reader.at;
    const keys = literalKeys(reader.expression());
    if (keys === undefined)
      throw new SyntaxProblem(start, 'expected what is handed over: with {a, b: value}');
    for (const [name, { value }] of keys) handed.push({ name, value });
  }
  reader.expectEnd();
  return { kind: 'include', snippet, handed, ...at(context) };
};

const importTag: TagParser = (reader, context) => {
  const snippet = reader.quoted('the name of a snippet');
  reader.expectEnd();
  return { kind: 'import', snippet, ...at(context) };
};

const doTag: TagParser = (reader, context) => {
  const start = reader.at;
  const call = reader.expression();
  const isCall = (call.kind === 'call' && !call.piped) || call.kind === 'method';
  if (!isCall) throw new SyntaxProblem(start, 'expected a call: {% do warn(object, "Reason", "message") %}');
  return { kind: 'do', call, ...at(context) };
};

const sectionTag: TagParser = (reader, context) => {
  const [name, objects, options] = reader.expressions('section name, objects?, {secret}?', {
    min: 1,
    max: 3,
  });
  return {
    kind: 'section',
    name: name!,
    objects,
    options,
    body: wholeBody(context, 'endsection'),
    ...at(context),
  };
};

const backendTag: TagParser = (reader, context) => {
  const declaration = reader.expression();
  return { kind: 'backend', declaration, body: wholeBody(context, 'endbackend'), ...at(context) };
};

const memoTag: TagParser = (reader, context) => {
  const keys = [reader.name('the name of a variable: {% memo route %}')];
  while (reader.eat(',')) keys.push(reader.name('the name of a variable'));
  reader.expectEnd();
  return { kind: 'memo', keys, body: wholeBody(context, 'endmemo'), ...at(context) };
};

function simple(kind: 'break' | 'continue' | 'profiles'): TagParser {
  return (reader, context) => {
    reader.expectEnd();
    return { kind, ...at(context) };
  };
}

const bindTag: TagParser = (reader, context) => ({
  kind: 'bind',
  address: reader.expression(),
  ...at(context),
});

const entryTag: TagParser = (reader, context) => {
  const [map, key, value] = reader.expressions('entry "map", key, value', { min: 3, max: 3 });
  return { kind: 'entry', map: map!, key: key!, value: value!, ...at(context) };
};

const entriesTag: TagParser = (reader, context) => {
  const [map, list] = reader.expressions('entries "map", list', { min: 2, max: 2 });
  return { kind: 'entries', map: map!, list: list!, ...at(context) };
};

const certTag: TagParser = (reader, context) => {
  const [name, secret] = reader.expressions('cert name, secret', { min: 2, max: 2 });
  return { kind: 'cert', name: name!, secret: secret!, ...at(context) };
};

const crtTag: TagParser = (reader, context) => {
  const [list, certificate, options, sni] = reader.expressions('crt list, cert, options?, sni?', {
    min: 2,
    max: 4,
  });
  return { kind: 'crt', list: list!, certificate: certificate!, options, sni, ...at(context) };
};

const statusTag: TagParser = (reader, context) => {
  const [object, conditions] = reader.expressions('status object, conditions', { min: 2, max: 2 });
  return { kind: 'status', object: object!, conditions: conditions!, ...at(context) };
};

/** All tags but the closing ones. */
export const tagParsers: ReadonlyMap<string, TagParser> = new Map([
  ['if', ifTag],
  ['for', forTag],
  ['break', simple('break')],
  ['continue', simple('continue')],
  ['set', setTag],
  ['macro', macroTag],
  ['import', importTag],
  ['include', includeTag],
  ['do', doTag],
  ['section', sectionTag],
  ['profiles', simple('profiles')],
  ['bind', bindTag],
  ['backend', backendTag],
  ['memo', memoTag],
  ['entry', entryTag],
  ['entries', entriesTag],
  ['cert', certTag],
  ['crt', crtTag],
  ['status', statusTag],
]);

/** Tags that end a body, or a part of it. */
export const closingTags: ReadonlySet<string> = new Set(
  'elif else endif endfor endset endmacro endsection endbackend endmemo endverbatim'.split(' '),
);
