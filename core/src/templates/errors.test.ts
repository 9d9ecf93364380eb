import { describe, expect, test } from 'vitest';
import { Refused } from '../contract/index.ts';
import { compileTemplates, problemsOf, renderTemplates } from '../testing/templates.ts';
import { RenderError } from './errors.ts';

async function failure(run: () => unknown): Promise<Error> {
  try {
    await run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

test('all mistakes of all templates are reported at once, with line and caret', async () => {
  const error = await failure(() =>
    compileTemplates({
      main: `{% section "global" %}
global
    maxconn {{ seting.maxconn }}
    {% iff 1 %}
    log-tag "{{ settings.nam }}
{% endsection %}
stray text
{% include "part" %}
`,
      snippets: { part: '{% section "x" %}\n\tx {{ 1 == 2 }} {{ "a" || uper("b") }}\n{% endsection %}\n' },
      settings: { name: 'n' },
    }),
  );
  expect(error).toBeInstanceOf(Refused);
  expect(error.message).toBe(
    `haproxyConfig:4:8: there is no tag "iff", did you mean "if"?
      {% iff 1 %}
         ^
part:2:7: "==" is not part of expressions, write "==="
   x {{ 1 == 2 }} {{ "a" || uper("b") }}
        ^
haproxyConfig:3:16: there is no variable "seting", did you mean "settings"?
      maxconn {{ seting.maxconn }}
                 ^
haproxyConfig:5:26: "settings" has no member "nam", did you mean "name"?; it has name
      log-tag "{{ settings.nam }}
                           ^
haproxyConfig:5:32: the line ends inside double quotes
      log-tag "{{ settings.nam }}
                                 ^
haproxyConfig:7:1: text outside of {% section %} and {% backend %}, where it would belong to no part of the configuration
  stray text
  ^
part:2:27: there is no function "uper", did you mean "upper"?
   x {{ 1 == 2 }} {{ "a" || uper("b") }}
                            ^`.replace('5:32', '5:32'),
  );
});

test('a render error names the place, the expression and the objects', async () => {
  const object = { apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'ns', name: 'svc' } };
  const error = await failure(() =>
    renderTemplates({
      main: `{% for o in data.objects %}
{% backend {name: "b", from: "base", objects: o} %}
    http-request set-path {{ o.spec.path }}
{% endbackend %}
{% endfor %}`,
      data: { objects: [object] },
    }),
  );
  expect(error).toBeInstanceOf(RenderError);
  expect(error.message).toBe(`haproxyConfig:3:30: "o.spec" is undefined and has no member "path"
      http-request set-path {{ o.spec.path }}
                               ^`);
  expect((error as RenderError).objects).toEqual([
    { apiVersion: 'v1', kind: 'Service', namespace: 'ns', name: 'svc' },
  ]);
});

test('a long line is cut around the caret, control characters do not move it', async () => {
  const error = await failure(() =>
    compileTemplates({
      main: `{% section "t" %}\n${'x'.repeat(300)}\u001b {{ nope }} ${'y'.repeat(300)}\n{% endsection %}`,
    }),
  );
  const [, line, caret] = error.message.split('\n') as [string, string, string];
  expect(line.length).toBe(122);
  expect(line.slice(caret.indexOf('^'))).toMatch(/^nope }} y/);
  expect(line).not.toContain('\u001b');
});

test('what a helper throws is blamed on its call', async () => {
  const helper = {
    name: 'broken',
    signature: 'broken()',
    doc: '',
    minArgs: 0,
    maxArgs: 0,
    call: () => {
      throw new Error('no luck');
    },
  };
  const error = await failure(() => renderTemplates({ body: 'x {{ broken() }}', helpers: [helper] }));
  expect(error.message).toContain('haproxyConfig:2:6: "broken()" failed: no luck');
  expect((error.cause as Error).message).toBe('no luck');
});

describe('snippets that nothing includes', () => {
  test.each([
    ['x {{ nope() }}', 'unused:1:6 there is no function "nope"'],
    ['x {{ settings.nope }}', 'unused:1:15 "settings" has no member "nope"'],
    ['x "{{ handed }}', 'unused:1:16 the text ends inside double quotes'],
    ['acl a str({{ handed }})', 'unused:1:11 a value inside an expression'],
    ['{% section "s" %}\nx {{ nope() }}\n{% endsection %}', 'unused:2:6 there is no function "nope"'],
    ['{% macro m() %}{{ handed }}{% endmacro %}', 'unused:1:19 there is no variable "handed"'],
  ])('%s', async (unused, expected) => {
    expect(await problemsOf({ main: '', snippets: { unused } })).toEqual([expect.stringContaining(expected)]);
  });

  test.each(['x {{ handed.name }} {{ handed.list.map(i => i) }}', '{% include "other" %}', ''])(
    '%s is fine',
    async (unused) => {
      const other = '{% if 1 %}{% section "s" %}\nx\n{% endsection %}{% endif %}';
      expect(await problemsOf({ main: '', snippets: { unused, other } })).toEqual([]);
    },
  );
});

/** What somebody who knows other template languages writes first. */
describe('common mistakes', () => {
  const set = {
    settings: { time: '5s', list: ['a'], o: { a: 1 } },
    maps: { hosts: {} },
    fixtures: { services: [] },
  };
  test.each([
    ['x {{ settings.tiem }}', '"settings" has no member "tiem", did you mean "time"?'],
    ['x {{ settings.time }', '"{{" is never closed by "}}"'],
    [
      '{% if settings.time = 1 %}{% endif %}',
      '"=" assigns, which an expression does not: compare with "==="',
    ],
    ['{% if settings.time == 1 %}{% endif %}', '"==" is not part of expressions, write "==="'],
    ['x {{ settings.time or "1s" }}', 'expected the end of the expression: write "||" or "??" for "or"'],
    ['x {{ settings.time and 1 }}', 'write "&&" for "and"'],
    ['x {{ not settings.time }}', 'write "!" for "not"'],
    ['x {{ settings.time is defined }}', '"=== undefined" for what is not defined'],
    ['{% for x of settings.list %}{% endfor %}', 'expected "in"'],
    ['{% for x in settings.o %}{% endfor %}', 'is an object, expected a list; use {% for key, value in … %}'],
    ['{% for x in resources.services %}{% endfor %}', 'is an object, expected a list; use its list()'],
    ['{% elseif 1 %}', 'there is no tag "elseif": write {% elif %}'],
    ['{% raw %}', 'there is no tag "raw": write {% verbatim %}'],
    ['{% if 1 %}x', 'expected {% endif %} for {% if %} of line 2, found {% endsection %}'],
    [
      'x {{ settings.o }}',
      'is an object, which cannot be printed or joined; say which part of it, or `| json`',
    ],
    [
      'x {{ settings.o.b }}',
      'is undefined, which cannot be printed or joined; say what stands for it: ?? "…"',
    ],
    ['x {{ settings.list.length() }}', 'there is no method "length": it is a member, without parentheses'],
    ['x {{ settings.list.join }}', '"join" is a method of a list: it can be called, but is no value'],
    ['x {{ settings.list | map("name") }}', '"map" is a method: write value.map(…)'],
    ['x {{ settings.list | length > 1 }}', 'a filter stands next to an operator: put parentheses'],
    ['x {{ settings.list.map(function(x) { return x }) }}', 'write item => …, or use {% macro %}'],
    ['x {{ True }}', 'there is no variable "True", did you mean "true"?'],
    ['{% include name %}', 'expected the name of a snippet in quotes'],
    ['{% entry "host", "a", "b" %}', 'no map is named "host", did you mean "hosts"?'],
    ['bind :443 ssl crt {{ settings.time }}', 'HAProxy opens this file: only path(kind, name) names one'],
  ])('%s', async (body, expected) => {
    const problems = await problemsOf({ ...set, body });
    expect(problems[0]).toMatch(/^haproxyConfig:\d+:\d+ /);
    expect(problems.join('\n')).toContain(expected);
  });
});
