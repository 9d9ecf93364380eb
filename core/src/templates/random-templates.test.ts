import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refused } from '../contract/index.ts';
import { haproxyWords } from '../testing/haproxy-words.ts';
import { renderTemplates } from '../testing/templates.ts';

const runs = process.env['HAPTIC_SOAK'] === '1' ? 50_000 : 1_500;

/** Parts of templates, and of what is none. */
const pieces = [
  '\n',
  ' ',
  'x ',
  ' if ',
  'acl a path ',
  'http-request deny if ',
  ...'{{ }} {% %} {# #} {{- -%} " \' \\ $ ${ % %[ ( ) ] # => ... [ { } , | ?? ?. ` /* // ; 1'.split(' '),
  ...'__proto__ constructor data loop.index'.split(' '),
  ...`{{ data.s }}
{{ data.s | word }}
{{ data.s | arg }}
{{ data.n }}
{{ l }}
{{ m(1) }}
{{ m(data.s) }}
{% if data.n %}
{% else %}
{% elif 1 %}
{% endif %}
{% for l in data.l %}
{% endfor %}
{% break %}
{% set l = 1 %}
{% set l %}
{% endset %}
{% memo data %}
{% endmemo %}
{% include "s" %}
{% include "t" with {l: 2} %}
{% section "b" %}
{% endsection %}
{% backend {name: "b", from: "c"} %}
{% endbackend %}
{% verbatim %}
{% endverbatim %}`.split('\n'),
];
const template = fc.array(fc.constantFrom(...pieces), { maxLength: 25 }).map((parts) => parts.join(''));
/** Most of these are templates: blocks are closed, and lines begin with a directive. */
const orderly = fc.letrec<{ line: string; part: string; block: string }>((tie) => ({
  part: fc.oneof(
    fc.constantFrom(' ', 'a', '""', "' '", '%%', '()', '}', '-', 'o', '!', '"', '%', '(', ' # '),
    fc.constantFrom(
      '{{ data.s }}',
      '{{ data.s }}',
      '"{{ data.s }}"',
      '({{ data.s | arg }})',
      '{{ m(data.s) }}',
    ),
    fc.tuple(tie('part'), tie('part')).map(([a, b]) => `{% if data.n %}${a}{% else %}${b}{% endif %}`),
    fc.tuple(tie('part'), tie('part')).map(([a, b]) => `{% for l in data.l %}${a}${b}{% endfor %}`),
    tie('part').map((a) => `{% set k %}${a}{% endset %} {{ k }}`),
  ),
  line: fc
    .tuple(
      fc.constantFrom('x ', 'acl a path ', 'http-request deny if { path -m beg ', 'log-format ', 'bind '),
      fc.array(tie('part'), { minLength: 1, maxLength: 6 }),
    )
    .map(([first, parts]) => first + parts.join('')),
  block: fc.oneof(
    { weight: 3, arbitrary: tie('line') },
    tie('block').map((a) => `{% if data.n %}\n${a}\n{% endif %}`),
    tie('block').map((a) => `{% memo data %}\n${a}\n{% endmemo %}`),
    fc.tuple(tie('block'), tie('block')).map(([a, b]) => `${a}\n{# c #}\n${b}`),
  ),
})).block;
const value = fc.constantFrom('v', 'a b', '"', "'", '#', '\\', '$X', '%[src]', '}', '-f', 'or', 'global');

function set(body: string, s: string) {
  return {
    main: `{% macro m(a) %}{{ a }}{% endmacro %}{% section "t" %}\n${body}\n{% endsection %}`,
    snippets: { s: 'x {{ settings.v }}', t: 'y {{ l }}\n' },
    settings: { v: 1 },
    data: { s, n: 1, l: [1, 2] },
  };
}

/** Whatever happens, it is an answer: the text, or problems with their places. */
async function attempt(body: string, s: string): Promise<string | undefined> {
  try {
    const { pieces: made } = await renderTemplates(set(body, s));
    const [piece] = made;
    return piece?.kind === 'section' ? piece.text : undefined;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    expect(error.problems.every(({ where }) => /^\w+:\d+:\d+$/.test(where))).toBe(true);
    return undefined;
  }
}

test('most orderly ones are templates', async () => {
  const bodies = fc.sample(orderly, { numRuns: 200, seed: 1 });
  const texts = await Promise.all(bodies.map((body) => attempt(body, 'v')));
  expect(texts.filter((text) => text !== undefined).length).toBeGreaterThan(30);
});

test('any text is a template or is refused', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(template, value, async (body, s) => {
      await attempt(body, s);
    }),
    { numRuns: runs },
  );
});

test(
  'in whatever template, another value gives the same lines with the same number of words',
  { timeout: 600_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(orderly, value, async (body, s) => {
        const plain = await attempt(body, 'v');
        const other = plain === undefined ? undefined : await attempt(body, s);
        if (plain === undefined || other === undefined) return;
        const shape = (text: string): readonly number[] =>
          text.split('\n').map((line) => haproxyWords(line).length);
        expect(shape(other)).toEqual(shape(plain));
      }),
      { numRuns: runs },
    );
  },
);
