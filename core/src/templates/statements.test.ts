import { describe, expect, test } from 'vitest';
import { problemsOf, renderBody } from '../testing/templates.ts';

describe('if', () => {
  test.each([
    ['{% if 1 %}a{% endif %}', 'a\n'],
    ['{% if 0 %}a{% else %}b{% endif %}', 'b\n'],
    ['{% if 0 %}a{% elif 1 %}b{% else %}c{% endif %}', 'b\n'],
    ['{% if 0 %}a{% elif "" %}b{% elif null %}c{% endif %}', ''],
  ])('%s', async (body, expected) => {
    expect(await renderBody(body)).toBe(expected === '' ? '\n' : expected);
  });
});

describe('for', () => {
  const data = { list: ['a', 'b', 'c'], none: [], o: { z: 1, a: 2 } };
  test.each([
    ['x{% for i in data.list %} {{ i }}{% endfor %}', 'x a b c'],
    ['x{% for i in data.none %} {{ i }}{% else %} none{% endfor %}', 'x none'],
    ['x{% for i in data.list %} {{ i }}{% else %} none{% endfor %}', 'x a b c'],
    ['x{% for k, v in data.o %} {{ k }}={{ v }}{% endfor %}', 'x a=2 z=1'],
    ['x{% for i, v in data.list %} {{ i }}={{ v }}{% endfor %}', 'x 0=a 1=b 2=c'],
    ['x{% for i in data.list %} {{ loop.index }}{{ loop.index0 }}{% endfor %}', 'x 10 21 32'],
    [
      'x{% for i in data.list %}{% if !loop.first %} -{% endif %} {{ i }}{% if loop.last %} .{% endif %}{% endfor %}',
      'x a - b - c .',
    ],
    ['x{% for i in data.list %}{% if i === "b" %}{% break %}{% endif %} {{ i }}{% endfor %}', 'x a'],
    ['x{% for i in data.list %}{% if i === "b" %}{% continue %}{% endif %} {{ i }}{% endfor %}', 'x a c'],
    [
      'x{% for i in data.list %}{% for j in [1, 2] %} {{ i }}{{ j }}{{ loop.index }}{% endfor %}{% endfor %}',
      'x a11 a22 b11 b22 c11 c22',
    ],
    ['x{% for i in range(2) %}{% set outer = loop %}{% endfor %}', '!"loop" is no value'],
    ['x{% for i in range(2) %} {{ loop.length }}{% endfor %}', '!"loop" has no member "length"'],
    ['x{% for i in data.o %}{% endfor %}', '!use {% for key, value in … %}'],
    ['x{% for i in data.list[9] %}{% endfor %}', '!is undefined, expected a list; say `?? []`'],
    ['x{% for k, v in 5 %}{% endfor %}', '!is a number, expected an object or a list'],
    ['x{% break %}', '!{% break %} stands in a {% for %}'],
    [
      'x{% for i in [1] %}{% set y %}{% continue %}{% endset %}{% endfor %}',
      '!leaves no section, backend, memo, macro or set block',
    ],
  ])('%s', async (body, expected) => {
    if (expected.startsWith('!')) {
      expect((await problemsOf({ body, data })).join('\n')).toContain(expected.slice(1));
    } else expect(await renderBody(body, { data })).toBe(`${expected}\n`);
  });
});

describe('set', () => {
  test.each([
    ['{% set a = 1 %}\nx {{ a }}', 'x 1\n'],
    ['{% set a = 1 %}\n{% if 1 %}\n{% set a = 2 %}\n{% endif %}\nx {{ a }}', 'x 2\n'],
    ['{% set n = 0 %}\n{% for i in range(3) %}\n{% set n = n + i %}\n{% endfor %}\nx {{ n }}', 'x 3\n'],
    ['{% if 1 %}\n{% set a = 2 %}\n{% endif %}\nx {{ a }}', '!there is no variable "a"'],
    ['x {{ a }}\n{% set a = 2 %}', '!there is no variable "a"'],
    ['{% for i in [1] %}\n{% set i = 2 %}\n{% endfor %}', '!"i" is a loop variable and cannot be set'],
    ['{% set haproxy = 2 %}', '!"haproxy" is a global and cannot be set'],
    ['{% set upper = 2 %}', '!"upper" is a helper and cannot be set'],
    ['{% set loop = 2 %}', '!cannot be set'],
    ['{% set a = 1 %}\n{% set a = path("map", "m") %}', '!"a" holds a value and cannot become a path'],
    ['{% set a %}b c{% endset -%}\nx {{ a }} {{ a }}', 'x b c b c\n'],
    ['{% set a %}b c{% endset %}\nx {{ a }}', 'x b c\n'],
    ['{% set a %}{{ 1 }}{% endset %} {# c #}\nx {{ a }}', 'x 1\n'],
    ['{% set a %}\nb\nc\n{% endset %}\n{{ a }}\nx', 'b\nc\nx\n'],
    ['{% set a %}\nb\n{% endset %}\nx {{ a }}', '!line breaks and may only stand alone'],
    ['{% set a %}b{% endset %}\nx "{{ a }}"', '!cannot be printed inside quotes'],
    ['{% set a %}b{% endset %}\nx # {{ a }}', '!cannot be printed in a comment'],
    ['{% set a %}b{% endset %}\nx {{ a + "c" }}', '!takes part in no operator or call'],
    ['{% set a %}b{% endset %}\nx {{ upper(a) }}', '!takes part in no operator or call'],
    ['{% set a %}b{% endset %}\nx {{ a.length }}', '!takes part in no operator or call'],
    ['{% set a %}b{% endset %}\nx {{ a | word }}', '!is written already'],
    ['{% set a %}b{% endset %}\nx {{ 1 ? a : a }}', '!takes part in no operator'],
    ['{% set a %}b{% endset %}{% set c = a -%}\nx {{ c }}', 'x b\n'],
  ])('%s', async (body, expected) => {
    if (expected.startsWith('!'))
      expect((await problemsOf({ body })).join('\n')).toContain(expected.slice(1));
    else expect(await renderBody(body)).toBe(expected);
  });
});

describe('macro and import', () => {
  const snippets = {
    lib: '{% macro pair(a, b = a + "!") %}\nk {{ a }} {{ b }}\n{% endmacro %}\n{% macro word(x) %}w-{{ x }}{% endmacro %}',
    user: '{% import "lib" %}\n{{ pair("u") }}',
    two: '{% import "lib" %}\n{% macro outer(x) %}\n{{ pair(x) }}\n{% endmacro %}',
  };
  const set = { snippets, settings: { s: 'set' } };
  test.each([
    ['{% import "lib" %}\n{{ pair("p", "q") }}', 'k p q\n'],
    ['{% import "lib" %}\n{{ pair("p") }}', 'k p p\\!\n'.replace('\\!', '!')],
    ['{% import "lib" %}\nx {{ word("p q") }} y', 'x w-p\\ q y\n'],
    ['{% import "two" %}\n{{ outer("o") }}', 'k o o!\n'],
    ['{% import "two" %}\n{{ pair("o") }}', '!there is no function "pair"'],
    ['{% include "user" %}', 'k u u!\n'],
    ['{% import "libb" %}', '!there is no snippet "libb", did you mean "lib"?'],
    ['{% import "lib" %}\n{{ pair() }}', '!expected pair(a, b), found 0 arguments'],
    ['{% import "lib" %}\n{{ pair(1, 2, 3) }}', '!expected pair(a, b), found 3 arguments'],
    ['{% import "lib" %}\nx {{ pair("p") }}', '!line breaks and may only stand alone'],
    ['{% import "lib" %}\n{% do pair("p") %}', '!takes part in no operator or call'],
    ['{% if 1 %}\n{% import "lib" %}\n{% endif %}', '!stands at the top of a template'],
    ['{% import "lib" %}\nx {{ ["a"].map(i => word(i)) | json }}', '!takes part in no operator or call'],
  ])('%s', async (body, expected) => {
    const imports = [...body.matchAll(/^\{% import .*\n?/gm)].map(([line]) => line).join('\n');
    const isTop = !body.includes('{% if 1 %}');
    const rest = isTop ? body.replaceAll(/^\{% import .*\n?/gm, '') : body;
    const main = `${isTop ? imports : ''}\n{% section "t" %}\n${rest}\n{% endsection %}`;
    if (expected.startsWith('!')) {
      expect((await problemsOf({ ...set, main })).join('\n')).toContain(expected.slice(1));
    } else expect(await renderBody('', { ...set, main })).toBe(expected);
  });

  test('a macro sees its parameters, macros and globals only', async () => {
    const main = `{% set outside = 1 %}
{% macro m(p) %}
x {{ p }} {{ settings.s }} {{ outside }}
{% endmacro %}
{% section "t" %}
{{ m(1) }}
{% endsection %}`;
    expect(await problemsOf({ main, ...set })).toEqual(['haproxyConfig:3:31 there is no variable "outside"']);
  });

  test('macros call each other, whatever their order, up to a depth', async () => {
    const main = `{% macro even(n) %}{% if n === 0 %}yes{% else %}{{ odd(n - 1) }}{% endif %}{% endmacro %}
{% macro odd(n) %}{% if n === 0 %}no{% else %}{{ even(n - 1) }}{% endif %}{% endmacro %}
{% section "t" %}
x {{ even(N) }}
{% endsection %}`;
    expect(await renderBody('', { main: main.replace('N', '10') })).toBe('x yes\n');
    expect(await problemsOf({ main: main.replace('N', '1000') })).toEqual([
      expect.stringContaining('macros and includes call each other more than 200 deep'),
    ]);
  });
});

describe('include', () => {
  const snippets = {
    one: 'one {{ settings.s }}',
    given: 'given {{ a }} {{ b }}\n',
    inline: 'in {{ a }}\n',
    lines: 'l1\nl2\n',
    'list-b': 'b',
    'list-a': 'a\n',
    empty: '',
    'self-1': '{% include "self-*" %}',
    ping: '{% include "pong" %}',
    pong: '{% include "ping" %}',
  };
  const set = { snippets: { ...snippets }, settings: { s: 'set' }, dropped: ['gone'] };
  const circles = new Set(['self-1', 'ping', 'pong']);
  test.each([
    ['a\n{% include "one" %}\nb', 'a\none set\nb\n'],
    ['{% set x = 1 %}\n{% include "given" with {a: x, b: "2 3"} %}', 'given 1 2\\ 3\n'],
    ['{% set a = 1 %}\nx {% include "inline" with {a} %} y', 'x in 1 y\n'],
    ['{% include "list-*" %}', 'a\nb\n'],
    ['a\n{% include "none-*" %}\nb', 'a\nb\n'],
    ['a\n{% include "gone" %}\nb', 'a\nb\n'],
    ['a\n{% include "empty" %}\nb', 'a\nb\n'],
    ['{% include "oen" %}', '!there is no snippet "oen", did you mean "one"?'],
    ['{% include "given" with {a: 1} %}', '!given:1:18 there is no variable "b"'],
    ['{% include name %}', '!expected the name of a snippet in quotes'],
    ['{% include "given" with 5 %}', '!with {a, b: value}'],
    ['x {% include "lines" %}', '!included within a line, and has line breaks'],
    ['"x {% include "one" %}"', '!cannot be printed inside quotes'],
    ['{% include "self-1" %}', '!self-1:1:1 the include is a circle: self-1 → self-1'],
    ['{% include "ping" %}', '!the include is a circle: ping → pong → ping'],
  ])('%s', async (body, expected) => {
    const isCircle = expected.includes('circle');
    const own = Object.entries(snippets).filter(([name]) => isCircle || !circles.has(name));
    const used = { ...set, body, snippets: Object.fromEntries(own) };
    if (expected.startsWith('!')) expect((await problemsOf(used)).join('\n')).toContain(expected.slice(1));
    else expect(await renderBody(body, used)).toBe(expected);
  });

  test('a snippet that declares sections is included between them', async () => {
    const main = '{% include "sections" %}';
    expect(
      await renderBody('', { main, snippets: { sections: '{% section "s" %}\nx\n{% endsection %}\n' } }),
    ).toBe('x\n');
  });
});

test('verbatim is text, whatever it holds', async () => {
  expect(await renderBody('{% verbatim %}{{ x }} {% y %}{% endverbatim %} z')).toBe('{{ x }} {% y %} z\n');
  expect(await renderBody('{% verbatim %}\n{{ x\n{% endverbatim %}\nz')).toBe('{{ x\nz\n');
});

test('do calls for an effect', async () => {
  expect(await problemsOf({ body: '{% do fail("stop") %}' })).toEqual(['haproxyConfig:2:7 stop']);
  expect(await problemsOf({ body: '{% do 5 %}' })).toEqual([expect.stringContaining('expected a call')]);
});
