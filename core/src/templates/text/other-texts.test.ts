import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { problemsOf, renderTemplates } from '../../testing/templates.ts';

async function yaml(template: string, settings: Record<string, unknown>): Promise<string> {
  const { k8sResources } = await renderTemplates({
    main: '',
    resources: { r: template },
    data: settings,
  });
  return k8sResources[0]!.text;
}

describe('YAML', () => {
  const data = { s: 'a: "b" #c', n: 5, t: true, o: { a: ['x: y', 1] } };
  test.each([
    ['k: {{ data.s }}\n', { k: data.s }],
    ['k: {{ data.s }} # {{ data.s }}\n', { k: data.s }],
    ['- {{ data.s }}\n- {{ data.n }}\n- {{ data.t }}\n', [data.s, 5, true]],
    ['{{ data.s }}: v\n', { [data.s]: 'v' }],
    ['k: "x {{ data.s }} y"\n', { k: `x ${data.s} y` }],
    ["k: 'x {{ data.s }} y'\n", { k: `x ${data.s} y` }],
    ['k: [{{ data.s }}, {{ data.n }}]\n', { k: [data.s, 5] }],
    ['k: {a: {{ data.s }}, b: {{ data.n }} }\n', { k: { a: data.s, b: 5 } }],
    ['k: {{ data.o | json }}\n', { k: data.o }],
    ['k: {{ data.o | yaml }}\n', { k: data.o }],
    ['k: |\n  x {{ data.s }}\n  y\nl: {{ data.s }}\n', { k: `x ${data.s}\ny\n`, l: data.s }],
    ['k:\n{% for i in [1, 2] %}\n  - {{ i }}\n{% endfor %}\n', { k: [1, 2] }],
    ['k: {% if data.t %}{{ data.s }}{% else %}x{% endif %}\n', { k: data.s }],
  ])('%s', async (template, expected) => {
    expect(parse(await yaml(template, data))).toEqual(expected);
  });

  test.each([
    ['k: x{{ data.s }}\n', 'put double quotes around all of it'],
    ['k: {{ data.s }}{{ data.s }}\n', 'put double quotes around all of it'],
    ['k: {{ data.s }}x\n', 'text right behind a value'],
    ['k: {{ data.o }}\n', 'say `| yaml` or `| json`'],
    ['k: {{ data.s | word }}\n', "is about HAProxy's configuration"],
    ['k: {{ data.nope }}\n', '"data" has no member "nope"'],
    ['k: "x\n  y"\n', 'the line ends inside double quotes'],
    ['k: |\n  {{ "a\\nb" }}\n', 'holds the control character'],
    ['k: \'{{ "a\\nb" }}\'\n', 'holds the control character'],
    ['{% section "x" %}{% endsection %}', '{% section %} stands in the main template'],
    ['{% entry "x", "y", "z" %}', "{% entry %} stands in HAProxy's configuration"],
  ])('%s', async (template, expected) => {
    const found = await problemsOf({ main: '', data, resources: { r: template } });
    expect(found.join('\n')).toContain(expected);
  });

  test('any text is one scalar', async () => {
    const text = fc
      .string({ unit: 'binary' })
      // "a" and "b" are keys of the text below already.
      .filter((value) => value.isWellFormed() && !value.includes('\0') && !/^[ab]$/.test(value));
    await fc.assert(
      fc.asyncProperty(text, async (s) => {
        const made = await yaml('a: {{ data.s }}\nb: "{{ data.s }}"\n{{ data.s }}: c\n', { s });
        expect(parse(made)).toEqual({ a: s, b: s, [s]: 'c' });
      }),
      { numRuns: 50 },
    );
  });
});

describe('files', () => {
  test('hold values as they are', async () => {
    const { files } = await renderTemplates({
      main: '',
      settings: { v: '<"a"\n\t\\>' },
      snippets: { s: 'in {{ settings.v }}\n' },
      files: { b: 'b\n', a: '{% set x %}<{{ settings.v }}>{% endset -%}\n{{ x }}{{ 1 }}\n{% include "s" %}' },
    });
    expect(
      files.map(({ name, text, kind, reloadOnChange }) => ({ name, text, kind, reloadOnChange })),
    ).toEqual([
      { name: 'a', text: '<<"a"\n\t\\>>1\nin <"a"\n\t\\>\n', kind: 'file', reloadOnChange: true },
      { name: 'b', text: 'b\n', kind: 'file', reloadOnChange: true },
    ]);
  });

  test.each([
    ['{{ "\\0" }}', 'U+0000'],
    ['{{ "a" | arg }}', "is about HAProxy's configuration"],
    ['{{ null }}', 'is null'],
  ])('%s', async (template, expected) => {
    expect((await problemsOf({ main: '', files: { f: template } })).join('\n')).toContain(expected);
  });
});

describe('certificates', () => {
  const pem = '-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n';
  test('are PEM', async () => {
    const { certificates } = await renderTemplates({
      main: '',
      settings: { pem },
      certificates: { c: '{{ settings.pem }}' },
    });
    expect(certificates).toEqual([
      { name: 'c', pem, provenance: { snippet: 'sslCertificates/c', source: 'base', line: 1, objects: [] } },
    ]);
  });

  test.each([
    ['{{ "a\\u0007" }}', 'holds a character that no PEM file holds'],
    ['é -----BEGIN ', 'holds a character that no PEM file holds'],
    ['x', 'holds no "-----BEGIN'],
  ])('%s', async (template, expected) => {
    expect((await problemsOf({ main: '', certificates: { c: template } })).join('\n')).toContain(expected);
  });
});
