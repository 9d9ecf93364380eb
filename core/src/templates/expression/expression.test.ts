import { describe, expect, test } from 'vitest';
import { problemsOf, renderTemplates, type TemplateSet } from '../../testing/templates.ts';

const data = {
  n: 5,
  s: 'text',
  list: [3, 1, 2],
  names: ['b', 'a'],
  o: { a: 1, 'b-c': 2, nested: { deep: 'x' } },
  nothing: null,
  yes: true,
};

/** The value of an expression, as JSON. */
async function evaluate(expression: string, set: TemplateSet = {}): Promise<unknown> {
  const { files } = await renderTemplates({
    main: '',
    data,
    ...set,
    files: { out: `{% set it = ${expression} %}{{ it === undefined ? 'undefined' : json(it) }}` },
  });
  const { text } = files[0]!;
  return text === 'undefined' ? undefined : JSON.parse(text);
}

async function problem(expression: string): Promise<string> {
  const found = await problemsOf({ main: '', data, files: { out: `{{ ${expression} }}` } });
  return found.join('\n');
}

describe('what expressions can say', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['1 + 2 * 3 - 4 / 2', 5],
    ['7 % 4 + 2 ** 3', 11],
    ["'a' + 1 + true", 'a1true'],
    ['-data.n', -5],
    ['+data.n', 5],
    ['typeof data.s', 'string'],
    ['!data.yes', false],
    ['data.n > 4 && data.n <= 5', true],
    ["'a' < 'b'", true],
    ["data.n === 5 && data.s !== 'x'", true],
    ["'a' in data.o", true],
    ["'constructor' in data.o", false],
    ["data.o.missing ?? 'default'", 'default'],
    ['data.nothing || 3', 3],
    ["data.yes ? 'y' : 'n'", 'y'],
    ['`a${data.n}b${data.s}`', 'a5btext'],
    ['[1, ...data.list, 4]', [1, 3, 1, 2, 4]],
    [
      '{a: 1, "b": 2, [data.s]: 3, ...data.o, n: data.n}',
      { a: 1, b: 2, text: 3, 'b-c': 2, nested: { deep: 'x' }, n: 5 },
    ],
    ["data['s'].length", 4],
    ['data.list[1]', 1],
    ["data.o['b' + '-c']", 2],
    ['data.list.at(-1)', 2],
    ['data.o?.nested?.deep', 'x'],
    ['data.o.missing?.a.b.c', undefined],
    ['data.o.missing?.trim().length', undefined],
    ['(data.o.missing?.a)?.b', undefined],
    ['data.list.map((x, i) => x * 10 + i)', [30, 11, 22]],
    [
      'data.list.filter(x => x > 1).map(x => data.list.map(y => x + y))',
      [
        [6, 4, 5],
        [5, 3, 4],
      ],
    ],
    ['data.list.reduce((sum, x) => sum + x, 0)', 6],
    ['data.list.toSorted()', [1, 2, 3]],
    ['data.list.toSorted((a, b) => b - a)', [3, 2, 1]],
    ['data.names.toSorted().join("-")', 'a-b'],
    ['data.list.toReversed()', [2, 1, 3]],
    ['data.list.find(x => x < 3)', 1],
    ['data.list.every(x => x > 0) && data.list.some(x => x === 2)', true],
    ['data.list.includes(2)', true],
    ['[[1], [2]].flat()', [1, 2]],
    ['data.list.flatMap(x => [x, x])', [3, 3, 1, 1, 2, 2]],
    ['data.names.keys()', [0, 1]],
    ["'a-b-a'.replace('a', '$&')", '$&-b-a'],
    ["'a-b-a'.replaceAll('a', '$&')", '$&-b-$&'],
    ["'a,b'.split(',')", ['a', 'b']],
    ["' a '.trim().padStart(3, '.').toUpperCase()", '..A'],
    ["'ab'.repeat(2).slice(1).indexOf('b')", 0],
    ['(1.005).toFixed(1)', '1.0'],
    ['data.s | upper | truncate(2)', 'TE'],
    ["(data.o.missing ?? 'x') | upper", 'X'],
    ['[data.s | upper, upper(data.s)]', ['TEXT', 'TEXT']],
    ['undefined', undefined],
    ['null', null],
    ["'\\u0061\\n'", 'a\n'],
  ];
  test.each(cases)('%s', async (expression, expected) => {
    expect(await evaluate(expression)).toEqual(expected);
  });
});

describe('what expressions cannot say', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['data.n = 1', '{% set %}'],
    ['data.n++', '{% set %}'],
    ['new Date()', '"new" is not part'],
    ['this', '"this" is not part'],
    ['(function () {})', 'use {% macro %}'],
    ['(class {})', '"class"'],
    ['data.list.map(async x => x)', '"async"'],
    ['await x', '"await"'],
    ['import("fs")', '"import"'],
    ['import.meta', '"import.meta"'],
    ['delete data.n', '"delete"'],
    ['void 0', '"void"'],
    ['`a`.b`c`', 'tagged templates'],
    ['/a/.test(data.s)', 'matches(text, "pattern")'],
    ['data.n == 5', 'write "==="'],
    ['data.n != 5', 'write "!=="'],
    ['data.n & 1', '"&" is not part of expressions, write "&&"'],
    ['data.n << 1', '"<<"'],
    ['~data.n', '"~"'],
    ['10n', 'big integers'],
    ['upper(...data.names)', '"..." stands only in lists and objects'],
    ['{get a() { return 1 }}', 'no functions'],
    ['{a() {}}', 'no functions'],
    ['{__proto__: data}', '"__proto__" does not exist'],
    ['{"__proto__": data}', '"__proto__" does not exist'],
    ['x => x', 'only as an argument of a call'],
    ['[x => x]', 'only as an argument of a call'],
    ['data.list.map(x => { return x })', 'the body of a function is an expression'],
    ['data.list.map(({a}) => a)', 'plain parameter'],
    ['data.list.map((a = 1) => a)', 'plain parameter'],
    ['data.list.map((...a) => a)', 'plain parameter'],
    ['(x => x)(1)', 'by name'],
    ['data.list["map"](x => x)', 'called by its name'],
    ['data.list.map?.(x => x)', 'never optional'],
    ['data.n instanceof data.o', '"instanceof"'],
    ['a, b', 'without a comma'],
    ['1 2', 'expected the end of the expression'],
    ['', 'expected an expression'],
    ['1 +', 'not an expression'],
    ['data.s /* x */', '{# … #}'],
    ['[1,,2]', 'no holes'],
    ['upper', '"upper" is a function: it can be called, but is no value'],
    ['data.s.constructor', '"constructor" does not exist'],
    ["data.s['constructor']", '"constructor" does not exist'],
    ['data.s.\\u0063onstructor', '"constructor" does not exist'],
    ['data.o?.__proto__', '"__proto__" does not exist'],
    ['data.list.push(1)', 'there is no method "push"'],
    ['data.list.sort()', 'there is no method "sort"'],
    ['data.s.toLowercase()', 'did you mean "toLowerCase"?'],
    ['data.x', '"data" has no member "x"'],
    ['upper()', 'expected upper(text) → text, found 0 arguments'],
    ['data.s | upper(1)', 'the filtered value is the first argument'],
    ['data.s | 5', 'expected a filter'],
    ['data.s ?? "a" | upper', 'next to an operator'],
    ['data.s | upper ?? "a"', 'next to an operator'],
    ['data.n + (data.s | length)', ''],
    ['!data.s | upper', 'next to an operator'],
    ['data.yes ? data.s | upper : 1', 'next to an operator'],
    ['data.s | upper ? 1 : 2', 'next to an operator'],
    ['data.s | upper.x', 'expected a filter'],
    ['upper(arg(data.s))', 'it stands last in {{ … }}'],
    ['matches(data.s, data.s)', 'a text in quotes, known at load'],
    ['matches(data.s, "(")', 'not a regular expression of RE2'],
    ['matches(data.s, "(?=a)")', 'not a regular expression of RE2'],
    ['uper(data.s)', 'did you mean "upper"?'],
    ['dat.s', 'there is no variable "dat", did you mean "data"?'],
  ];
  test.each(cases)('%s', async (expression, expected) => {
    const found = await problem(expression);
    if (expected === '') expect(found).toBe('');
    else expect(found).toContain(expected);
  });
});

describe('what cannot be computed', () => {
  const cases: readonly (readonly [string, string])[] = [
    [
      'data.o.missing',
      '"data.o.missing" is undefined, which cannot be printed or joined; say what stands for it: ?? "…"',
    ],
    ['data.nothing', '"data.nothing" is null'],
    ['data.o', '"data.o" is an object'],
    ['data.list', '"data.list" is a list'],
    ['0 / 0', '"0 / 0" is NaN'],
    ['1 / 0', '"1 / 0" is Infinity'],
    ["'a' + data.o.missing", 'is undefined, which cannot be printed or joined'],
    ['`x${data.o}`', 'is an object'],
    ['[1, data.nothing].join("")', 'is null'],
    ['data.n + data.list', '"+" takes two numbers, or texts, not a number and a list'],
    ["data.n - '1'", '"-" takes two numbers, not a number and a text'],
    ['data.n < data.s', 'only two numbers or two texts'],
    ['-data.s', '"data.s" is a text, expected a number'],
    ['data.o.missing.a', '"data.o.missing" is undefined and has no member "a"'],
    ['data.nothing.a', '"data.nothing" is null and has no member "a"'],
    ['data.o.missing.trim()', 'is a call of a member of undefined'],
    ['data.o[data.o]', 'named by a text or a number, not by an object'],
    ['data.n.trim()', 'a number has no method "trim"'],
    ['data.list.map(1)', 'expected a function: item => …'],
    ['data.list.reduce((a, b) => a + b)', 'what it begins with'],
    ['[1, "a"].toSorted()', 'cannot order'],
    ['data.s.repeat(-1)', 'must be 0 or more'],
    ['[...data.s]', 'expected a list after "..."'],
    ['{...data.list}', 'expected an object after "..."'],
    ['{[data.list]: 1}', 'expected a text as key'],
    ['number("x")', '"number("x")" failed: "x" is no number'],
    ['fail("no " + data.s)', 'no text'],
  ];
  test.each(cases)('%s', async (expression, expected) => {
    expect(await problem(expression)).toContain(expected);
  });
});

test('patterns are found in linear time', async () => {
  expect(await evaluate("matches('a1', '^[a-z][0-9]$')")).toBe(true);
  expect(await evaluate("matches('a'.repeat(5000), '(a+)+$x')")).toBe(false);
});
