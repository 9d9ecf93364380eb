import { describe, expect, test } from 'vitest';
import { problemsOf, renderBody } from '../../testing/templates.ts';

/** The text of a plain section, exactly. */
async function text(body: string): Promise<string> {
  return await renderBody('', { main: `{% section "t" %}\n${body}{% endsection %}` });
}

describe('lines', () => {
  test.each([
    ['a tag alone leaves no trace', 'a\n  {% if 1 %}  \nb\n{% endif %}\nc\n', 'a\nb\nc\n'],
    ['nor do comments', 'a\n{# one #} {# two\nlines #}\nb\n', 'a\nb\n'],
    ['nor several tags', 'a\n{% if 1 %}{% if 1 %}\nb\n{% endif %} {% endif %}\nc\n', 'a\nb\nc\n'],
    ['a tag among text keeps the line', 'a {% if 1 %}b{% endif %}\nc\n', 'a b\nc\n'],
    ['a comment among text goes alone', 'a {# x #}b\n', 'a b\n'],
    ['an output keeps its indentation', '  {{ "a" | word }}\nb\n', '  a\nb\n'],
    ['a tag that spans lines', 'a\n{% set x = [\n  1,\n] %}\nb\n', 'a\nb\n'],
    ['a trim mark before', 'a\n  {%- if 1 %} b{% endif %}\n', 'a b\n'],
    ['a trim mark behind', 'a {% if 1 -%}\n  b{% endif %}\n', 'a b\n'],
    ['trim marks of outputs', 'x a  {{- "b" -}}  c\n', 'x abc\n'],
    ['trim marks of comments', 'a  {#- x -#}  b\n', 'ab\n'],
    ['CRLF is LF', 'a\r\n{% if 1 %}\r\nb\r\n{% endif %}\r\n', 'a\nb\n'],
    ['a missing last line end is added', 'a', 'a\n'],
    ['blank lines stay', 'a\n\n\nb\n', 'a\n\n\nb\n'],
  ])('%s', async (_name, body, expected) => {
    expect(await text(body)).toBe(expected);
  });
});

describe('where a tag ends', () => {
  test.each([
    ['x {{ "}}" }}', 'x }}\n'],
    ['x {{ \'%}\' + "{{" }}', 'x %}{{\n'],
    ['x {{ {a: {b: 1}}.a.b }}', 'x 1\n'],
    ['x {{ {a:1}.a}}', 'x 1\n'],
    ['x {{ `}}${`}}`}` }}', 'x }}}}\n'],
    ['x {{ "\\"}}" }}', 'x \\"}}\n'],
    ['x {{ [["a"]][0][0] }}', 'x a\n'],
  ])('%s', async (body, expected) => {
    expect(await text(body)).toBe(expected);
  });
});

describe('mistakes', () => {
  test.each([
    ['x {{ a', '"{{" is never closed by "}}"'],
    ['x {% if 1', '"{%" is never closed by "%}"'],
    ['x {# a', '"{#" is never closed by "#}"'],
    ['{% verbatim %} a', 'expected {% endverbatim %}'],
    ['{% iff 1 %}', 'there is no tag "iff", did you mean "if"?'],
    ['{% %}', 'expected the name of a tag'],
    ['{% endif %}', '{% endif %} closes nothing'],
    ['{% else %}', '{% else %} closes nothing'],
    ['{% if 1 %}', 'found {% endsection %}'],
    ['{% for x in y %}{% endif %}', '{% endif %} closes nothing'],
    ['{% if %}{% endif %}', 'expected an expression'],
    ['{% if 1 %}{% endif x %}', '{% endif %} takes nothing'],
    ['{% for in y %}{% endfor %}', 'expected "in"'],
    ['{% for x y %}{% endfor %}', 'expected "in"'],
    ['{% for x, in y %}{% endfor %}', 'expected "in"'],
    ['{% for 1 in y %}{% endfor %}', 'expected a name'],
    ['{% set 1 = 2 %}', 'expected a name'],
    ['{% set a 2 %}{% endset %}', 'expected "="'],
    ['{% macro %}{% endmacro %}', 'expected a name'],
    ['{% entry "m", "k" %}', 'expected {% entry "map", key, value %}'],
    ['{% profiles 1 %}', 'expected the end of the tag'],
    ['{% include "a" wit {a} %}', 'expected the end of the tag'],
  ])('%s', async (body, expected) => {
    expect((await problemsOf({ body, data: { y: [] } })).join('\n')).toContain(expected);
  });

  test('the macro tag says what it expects', async () => {
    const main = (head: string) => ({ main: `{% macro ${head} %}{% endmacro %}` });
    const found = async (head: string) => (await problemsOf(main(head))).join('\n');
    expect(await found('f')).toContain('expected "("');
    expect(await found('f(a b)')).toContain('expected ","');
    expect(await found('f(a = 1, b)')).toContain('cannot follow one with a default');
    expect(await found('f(a, a)')).toContain('there are two parameters "a"');
    expect(await found('upper(a)')).toContain('"upper" is a helper already');
    expect(await found('f() %}{% endmacro %}{% macro f()')).toContain('there are two macros "f"');
  });
});

test('nesting is bounded, not crashing', async () => {
  const parens = `x {{ ${'('.repeat(20_000)}1${')'.repeat(20_000)} }}`;
  expect((await problemsOf({ body: parens })).join('\n')).toContain('not enough stack');
  const tags = '{% if 1 %}'.repeat(5_000) + '{% endif %}'.repeat(5_000);
  expect((await problemsOf({ body: tags })).join('\n')).toContain(
    'blocks are nested more than 100 deep: not enough stack',
  );
  const lists = `x {{ ${'['.repeat(5_000)}${']'.repeat(5_000)} }}`;
  expect((await problemsOf({ body: lists })).join('\n')).toContain('not enough stack');
  const sum = `x {{ ${'1 + '.repeat(5_000)}1 }}`;
  expect((await problemsOf({ body: sum })).join('\n')).toContain('not enough stack');
  const braces = `x {{ ${'`${'.repeat(5_000)}1${'}`'.repeat(5_000)} }}`;
  expect((await problemsOf({ body: braces })).join('\n')).toContain('not enough stack');
});
