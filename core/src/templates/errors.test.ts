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
