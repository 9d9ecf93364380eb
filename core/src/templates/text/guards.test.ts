import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { haproxyWords } from '../../testing/haproxy-words.ts';
import { problemsOf, renderBody } from '../../testing/templates.ts';

/** Values `a` and `b` with the place that they must not become something else in. */
describe('values and text that together would be something else', () => {
  test.each([
    ['http-request deny if x {{ d.a }}{{ d.b }} y', 'o', 'r', 'as part of a condition'],
    ['http-request deny {{ d.a }}{{ d.b }} y', 'i', 'f', 'as part of a condition'],
    ['http-request deny if x o{{ d.b }} y', '', 'r', 'as part of a condition'],
    ['http-request deny if x {{ d.a }}r y', 'o', '', 'as part of a condition'],
    ['http-request deny if x "{{ d.a }}"\'{{ d.b }}\' y', '|', '|', 'as part of a condition'],
    ['http-request deny if x {{ d.a }}{{ d.b }}', '', '!y', 'as part of a condition'],
    ['http-request deny if !{{ d.a }}', '!y', '', 'as part of a condition'],
    ['http-request deny if !{{ d.a }} x', '{', '', 'as part of a condition'],
    ['http-request deny if !{{ d.a }} x', '', '', 'as part of a condition'],
    ['http-request deny if { path {{ d.a }}{{ d.b }} }', '', '}', 'the end of the condition'],
    ['http-request deny if { path x {{ d.a }}{{ d.b }} } y', '', '}', 'the end of the condition'],
    ['acl x path {{ d.a }}f /etc/passwd', '-', '', 'as a flag'],
    ['acl x path {{ d.a }}-f y', '', '', 'as a flag'],
    ['acl x path -{{ d.a }} y', 'f', '', 'as a flag'],
    ['acl x path {{ d.a }}{{ d.b }} y', '', '-f', 'as a flag'],
    ['acl x path {% if d.a %}-{% endif %}{{ d.b }} y', '1', 'f', 'as a flag'],
    ['{{ d.a | word }} x', 'global', '', 'another section'],
    ['{{ d.a | word }} x', '.if', '', 'another section'],
    ['{{ d.a | word }}{{ d.b | word }} x', 'front', 'end', 'another section'],
    ['front{{ d.b | word }} x', '', 'end', 'another section'],
    ['{{ d.a | word }}end x', 'back', '', 'another section'],
    ['http-request return status 200 {{ d.a }} {{ d.b }}', 'file', '/etc/passwd', 'the name of a file'],
    ['http-request return status 200 {{ d.a }}e {{ d.b }}', 'fil', '/etc/passwd', 'the name of a file'],
    ['server s 10.0.0.1:80 {{ d.a }} {{ d.b }}', 'crt', '/etc/passwd', 'the name of a file'],
    ['bind :80 {{ d.a }} {{ d.b }}', 'crt-list', '/etc/passwd', 'the name of a file'],
    ['bind {{ d.a }}', 'unix@/run/x.sock', '', 'a file or socket'],
    ['bind {{ d.a }}', '/run/x.sock', '', 'a file or socket'],
    ['bind {{ d.a }}', ':80,unix@x', '', 'a file or socket'],
    ['bind {{ d.a }}', 'abns@x', '', 'a file or socket'],
    ['bind {{ d.a }}', 'fd@3', '', 'a file or socket'],
    ['bind {{ d.a }}', 'sockpair@3', '', 'a file or socket'],
    ['server s {{ d.a }}', 'unix@x', '', 'a file or socket'],
    ['server s {{ d.a }}{{ d.b }}', 'unix', '@x', 'a file or socket'],
    ['log {{ d.a }} local0', '/dev/log', '', 'a file or socket'],
    ['stats socket {{ d.a }}', '/run/x', '', 'a file or socket'],
    ['tcp-check connect addr {{ d.a }}', '/run/x', '', 'a file or socket'],
    // Known at load already.
    ['bind unix@{{ d.a }}', 'x', '', 'only path(kind, name)'],
    ['bind :80,unix@{{ d.a }}', 'x', '', 'only path(kind, name)'],
    ['server s /run/{{ d.a }}', 'x', '', 'only path(kind, name)'],
    ['http-request set-var(txn.x) str(a),{{ d.a | word }}({{ d.b | word }})', 'map', 'x', 'only path(kind'],
    ['http-request set-var(txn.x) str(a),{{ d.a | word }}p({{ d.b | word }})', 'ma', 'x', 'only path(kind'],
    ['http-request set-var(txn.x) var(a),jwt_verify("RS256",{{ d.b | arg }})', '', 'x', 'only path(kind'],
    ['acl x path {% if d.a %}-f{% else %}-i{% endif %} {{ d.b }}', '1', 'x', 'only path(kind, name)'],
    ['bind :80 {% if d.a %}ssl crt{% endif %} {{ d.b | word }}', '1', 'x', 'only path(kind, name)'],
    ['{% if d.a %}lua-load{% else %}log-tag{% endif %} {{ d.b | word }}', '1', 'x', 'only path(kind'],
    ['{% if d.a %}errorfile{% else %}log{% endif %} 503 {{ d.b | word }}', '1', 'x', 'only path(kind'],
    [
      'log-format "{% if d.a %}long text{% else %}%{% endif %}{{ d.b }}"',
      '',
      '[src]',
      'would continue the "%"',
    ],
    ['log-format "{% if d.a %}%[str({% endif %}{{ d.b | arg }}"', '1', 'x', 'end differently'],
    ['log-format "{% if d.a %}%[{% else %}x{% endif %}{{ d.b }}"', '1', 'x', 'end differently'],
    ['acl x str({% if d.a %}"{% endif %}{{ d.b | arg }})', '1', 'x', 'end differently'],
  ])('%s with %s and %s', async (body, a, b, expected) => {
    const text = body.replaceAll('d.', 'data.');
    expect((await problemsOf({ body: text, data: { a, b } })).join('\n')).toContain(expected);
  });
});

describe('what is left alone', () => {
  test.each([
    ['http-request deny if !{{ d.a }}', 'x', 'http-request deny if !x'],
    ['http-request deny if is_{{ d.a }}', 'or', 'http-request deny if is_or'],
    ['http-request deny if { path /{{ d.a }} }', '}', 'http-request deny if { path /} }'],
    ['http-request deny if { path -m beg -- {{ d.a }}f }', '-', 'http-request deny if { path -m beg -- -f }'],
    ['stats socket {{ haproxy.paths.workerSocket | word }}', 'x', 'stats socket /run/haproxy/worker.sock'],
    ['bind unix@{{ haproxy.paths.workerSocket }}', 'x', 'bind unix@/run/haproxy/worker.sock'],
    ['bind {{ d.a }}:80', '[::1]', 'bind [::1]:80'],
    ['bind {{ d.a }}', 'quic4@:443', 'bind quic4@:443'],
    ['bind {{ d.a }}', 'ipv6@:::443,:80', 'bind ipv6@:::443,:80'],
    ['server s {{ d.a }}:80 maxconn {{ d.a }}', '10.0.0.1', 'server s 10.0.0.1:80 maxconn 10.0.0.1'],
    ['use_backend {{ d.a }}_x if y', 'or', 'use_backend or_x if y'],
    ['http-request set-header X {{ d.a }}r', 'o', 'http-request set-header X or'],
    ['{{ d.a | word }} x', 'mode', 'mode x'],
    ['description {{ d.a }}{{ d.a }}', '-', 'description --'],
    ['x {% if 1 %} -{% endif %} {{ d.a }}', 'y', 'x  - y'],
    ['bind :80 {% if 1 %}ssl alpn h2{% endif %} name {{ d.a | word }}', 'n', 'bind :80 ssl alpn h2 name n'],
  ])('%s with %s', async (body, a, expected) => {
    const text = body.replaceAll('d.', 'data.');
    expect(await renderBody(text, { data: { a } })).toBe(`${expected}\n`);
  });
});

test('no three values in a condition are anything but names', async () => {
  const part = fc.constantFrom(
    '',
    'o',
    'r',
    'i',
    'f',
    'un',
    'less',
    '|',
    '!',
    '{',
    '}',
    '-',
    'x',
    ' ',
    '"',
    "'",
    '\\',
  );
  await fc.assert(
    fc.asyncProperty(fc.tuple(part, part, part), async (data) => {
      const set = { body: 'http-request deny if a {{ data[0] }}{{ data[1] }}{{ data[2] }} b', data };
      const [problem] = await problemsOf(set);
      const word = data.join('');
      const isBad = word === '' || /^(?:!.*|\{|\}|\|\||or|if|unless|-.*)$/.test(word);
      if (!isBad && problem === undefined) {
        expect(haproxyWords((await renderBody(set.body, set)).trimEnd()).slice(4)).toEqual([word, 'b']);
      }
      if (isBad) expect(problem).toBeDefined();
    }),
    { numRuns: 300 },
  );
});
