import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { haproxyWords } from '../../testing/haproxy-words.ts';
import { hostilePieces } from '../../testing/hostile-text.ts';
import { compileTemplates, problemsOf, renderBody, templateConfig } from '../../testing/templates.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { fixtureView } from '../../store/index.ts';
import { refusal } from '../runtime/escape.ts';

const hostileText = fc
  .array(fc.oneof(fc.constantFrom(...hostilePieces), fc.string({ unit: 'grapheme', maxLength: 2 })), {
    minLength: 1,
  })
  .map((parts) => parts.join(''))
  .filter((text) => text !== '' && refusal(text) === undefined);

const v = `\\ "'#$%{x}`;

describe('how a value is written', () => {
  test.each([
    ['log-tag {{ s.v }}', `log-tag \\\\\\ \\"\\'\\#$%{x}`],
    ['log-tag "{{ s.v }}"', `log-tag "\\\\ \\"'#\\$%{x}"`],
    ["log-tag '{{ s.v }}'", `log-tag '\\ "'\\''#$%{x}'`],
    ['log-tag a{{ s.v }}b', `log-tag a\\\\\\ \\"\\'\\#$%{x}b`],
    ['log-tag {{ s.v | q }}', `log-tag "\\\\ \\"'#\\$%{x}"`],
    ['x # {{ s.v }}', `x # ${v}`],
    ['log-format {{ s.v }}', `log-format \\\\\\ \\"\\'\\#$%%{x}`],
    ['log-format "{{ s.v }}"', `log-format "\\\\ \\"'#\\$%%{x}"`],
    ['log-format "{{ s.v | expr }}"', `log-format "\\\\ \\"'#\\$%{x}"`],
    ['log-tag {{ s.v | fmt }}', `log-tag \\\\\\ \\"\\'\\#$%%{x}`],
    [
      'http-request set-var(txn.x) str({{ s.v | arg }})',
      `http-request set-var(txn.x) str(\\"\\\\\\\\\\ \\\\\\"\\'\\#$%{x}\\")`,
    ],
    ['http-request set-header X "%[str({{ s.w | arg }})]"', `http-request set-header X "%[str(\\"a,b)\\")]"`],
    [`http-request set-header X '%[str("{{ s.q | arg }}")]'`, `http-request set-header X '%[str("a\\"b")]'`],
    ['acl a path_reg {{ s.r | regex }}', 'acl a path_reg a\\\\.b'],
    ['http-request set-path {{ s.n }}', 'http-request set-path 5'],
    ['{{ s.t | word }} x', 'true x'],
    ['x {{ s.raw | raw }} y', 'x a "b c" y'],
    ['{{ s.lines | raw }}\ny', 'l1 "a b"\nl2\ny'],
  ])('%s', async (body, expected) => {
    const settings = {
      v,
      w: 'a,b)',
      q: 'a"b',
      r: 'a.b',
      n: 5,
      t: true,
      raw: 'a "b c"',
      lines: 'l1 "a b"\nl2\n',
    };
    expect(await renderBody(body.replaceAll('s.', 'settings.'), { settings })).toBe(`${expected}\n`);
  });
});

describe('where HAProxy reads a log-format', () => {
  const formats = [
    'http-request set-header X @',
    'http-response add-header X @',
    'http-request replace-header X re @ if x',
    'http-request replace-value X re @',
    'http-request replace-path re @',
    'http-request set-path @',
    'http-request set-uri @',
    'http-request set-var-fmt(txn.x) @',
    'tcp-request content set-var-fmt(txn.x) @',
    'http-request redirect location @ code 302',
    'http-request redirect code 302 prefix @ if x',
    'http-request return status 200 content-type text/plain lf-string @ if x',
    'http-request return status 200 hdr X @ string x',
    'http-request deny deny_status 429 hdr X @',
    'http-request set-map(maps/a.map) @ x',
    'http-request set-map(maps/a.map) x @',
    'http-request del-map(maps/a.map) @',
    'http-request add-acl(maps/a.acl) @',
    'http-after-response set-header X @',
    'log-format @',
    'unique-id-format @',
    'error-log-format @',
    'use_backend @ if x',
    'use-server @ if x',
    'http-error status 503 lf-string @',
    'http-check send meth GET uri-lf @',
    'http-check send hdr X @',
    'tcp-check send-lf @',
    '  http-request   set-header  "X" @',
    'http-request \'set-header\' X "a (b) @"',
  ];
  const plain = [
    'http-request set-header @ x',
    'http-request replace-header X @ y',
    'http-request set-header X y if { path @ }',
    'http-request set-header X y unless { path -m beg -- @ }',
    'http-request return status 200 string @',
    'http-request return status 200 content-type @ string x',
    'http-request auth realm @',
    'redirect location @',
    'errorloc 503 @',
    'monitor-uri @',
    'stats realm @',
    'acl a path @',
    'http-check send meth GET uri @',
    'option httpchk GET @',
    'server s 127.0.0.1:80 cookie @',
    'cookie @ insert',
    'description @',
  ];
  test.each(formats)('%s', async (line) => {
    expect(await renderBody(line.replace('@', '{{ "a%b" }}'))).toBe(`${line.replace('@', 'a%%b')}\n`);
  });
  test.each(plain)('%s (plain)', async (line) => {
    expect(await renderBody(line.replace('@', '{{ "a%b" }}'))).toBe(`${line.replace('@', 'a%b')}\n`);
  });

  test.each([
    'http-request {{ "deny" | word }} @',
    'http-request del-acl(x) @',
    'filter spoe engine @',
    'http-request {% if 1 %}set-header X{% else %}deny{% endif %} @',
    'http-check expect status 200 on-error @',
    'http-request return {{ "string" | word }} @',
  ])('%s is refused with "%%" for want of knowledge', async (line) => {
    const body = (value: string) => line.replace('@', value);
    expect((await problemsOf({ body: body('{{ "a%b" }}') })).join('\n')).toContain('say `| fmt` if it does');
    expect(await renderBody(body('{{ "a%b" | fmt }}'))).toContain('a%%b');
    expect(await renderBody(body('{{ "a%b" | expr }}'))).toContain('a%b');
    expect(await renderBody(body('{{ "ab" }}'))).toContain('ab');
  });
});

describe('places that no value can take', () => {
  test.each([
    ['{{ "v" }} x', 'first word of a line is a directive: say `| word`'],
    ['{{ "v" }}', 'first word of a line is a directive: say `| word`'],
    ['x \\{{ "v" }}', 'right after "\\"'],
    ['x \\x{{ "v" }}', 'right after "\\x"'],
    ['x \\x4{{ "v" }}', 'right after "\\x"'],
    ['x ${{ "v" }}', 'right after "$"'],
    ['x "${{ "v" }}"', 'right after "$"'],
    ['x "${HO{{ "v" }}}"', 'inside "${…}"'],
    ['acl a path,field({{ "v" }},x)', 'inside an expression: say `| arg`'],
    ['http-request set-header X %[str({{ "v" }})]', 'inside an expression: say `| arg`'],
    ['http-request set-header X %[{{ "v" }}]', 'inside an expression: say `| arg`'],
    ['http-request set-header X "(%[str({{ "v" }})])"', 'inside an expression: say `| arg`'],
    [`http-request set-header X "(Bob's) %[str({{ "v" }})])"`, 'inside an expression: say `| arg`'],
    [`acl a str('{{ "v" | arg }}')`.replaceAll("'", "\\'"), 'in double quotes, or in none'],
    ['http-request set-header X %{{ "v" }}', 'would continue the "%"'],
    ['http-request set-header X %ci{{ "v" }}', 'would continue the "%"'],
    ['log-format "%{+Q}{{ "v" }}"', 'would continue the "%"'],
    ['log-format "%%%{{ "v" }}"', 'would continue the "%"'],
    ['x {{ "v" | arg }}', 'inside their parentheses'],
    ['x "{{ "v" | q }}"', 'it stands outside quotes'],
    ['errorfile 503 {{ "v" }}', 'only path(kind, name)'],
    ['errorfile 503 {{ "v" | word }}', 'only path(kind, name)'],
    ['http-request return file {{ "v" }}', 'only path(kind, name)'],
    ['lua-load {{ "v" | word }}', 'only path(kind, name)'],
    ['bind :443 ssl crt {{ "v" | word }}', 'only path(kind, name)'],
    ['server s 1.2.3.4 ca-file {{ "v" | word }}', 'only path(kind, name)'],
    ['acl a path -f {{ "v" | word }}', 'only path(kind, name)'],
    ['use_backend %[path,map({{ "v" | word }})]', 'only path(kind, name)'],
    ['use_backend %[path,map_str(maps/{{ "v" | word }}.map)]', 'only path(kind, name)'],
    ['http-request set-map({{ "v" | word }}) a b', 'only path(kind, name)'],
    ['{{ "errorfile" | word }} file {{ "v" | word }}', 'only path(kind, name)'],
    ['{% set m %}a({% endset -%}\nx {{ m }}', 'the text ends inside parentheses'],
    ['{% set m %}a\\{% endset -%}\nx {{ m }}', 'the text ends with "\\"'],
    ['{% set m %}a%{% endset -%}\nx {{ m }}', 'the text ends with "%"'],
    ['{% set m %}a # b{% endset -%}\nx {{ m }}', 'the text ends inside a comment'],
    ['{% set m %}a{% endset -%}\nx str({{ m }})', 'cannot be printed inside parentheses'],
    ['{% set m %}a{% endset -%}\nlog-format %[{{ m }}]', 'cannot be printed inside parentheses'],
    ['{% set m %}a{% endset -%}\nlog-format %{{ m }}', 'would continue the "%"'],
    ['{% set m %}a{% endset -%}\nx \\{{ m }}', 'cannot stand right after "\\"'],
    ['{% set m %}a{% endset -%}\nerrorfile 503 {{ m }}', 'cannot name a file'],
    ['{% set m %}a{% endset %}\n\n{{ m }} x', 'stands alone on its line, or behind the first word'],
    ['x {% if 1 %}"{% endif %}a', 'end differently'],
    ['x {% for i in [1] %}"{% endfor %}', 'end differently'],
    ['x "a', 'ends inside double quotes'],
    ["x 'a\nb'", 'the line ends inside single quotes'],
    ['x "{% if 1 %}{{ "a" | raw }}{% endif %}"', 'outside quotes, comments and escapes only'],
  ])('%s', async (body, expected) => {
    expect((await problemsOf({ body })).join('\n')).toContain(expected);
  });

  test.each([
    ['errorfile 503 {{ path("file", "a.http") }}', 'errorfile 503 files/a.http'],
    [
      '{% set p = path("map", "m") -%}\nuse_backend %[path,map({{ p }})]',
      'use_backend %[path,map(maps/m.map)]',
    ],
    ['lua-load {{ haproxy.paths.base }}/x.lua', 'lua-load /etc/haproxy/x.lua'],
    ['x {{ files.put("file", "a", "b") }}', 'x files/a'],
    ['log-format "%%{{ "v" }}"', 'log-format "%%v"'],
    ['log-format "%[src]{{ "v" }}"', 'log-format "%[src]v"'],
    ['x {% if 1 %}"a"{% else %}b{% endif %} {{ "v" }}', 'x "a" v'],
  ])('%s is fine', async (body, expected) => {
    expect(await renderBody(body)).toBe(`${expected}\n`);
  });
});

describe('values that cannot stand', () => {
  test.each([
    ['x {{ "a\\nb" }}', 'holds the control character U+000A'],
    ['x "{{ "a\\rb" }}"', 'holds the control character U+000D'],
    ['x \'{{ "a\\tb" }}\'', 'holds the control character U+0009'],
    ['x # {{ "a\\u0000b" }}', 'holds the control character U+0000'],
    ['x {{ "\\x7f" }}', 'holds the control character U+007F'],
    ['x {{ "\\ud800" }}', 'half a surrogate pair'],
    ['x {{ "" }}', 'is empty, and with it the whole word'],
    ['x {{ "" }} y', 'is empty, and with it the whole word'],
    ['x "{{ "" }}" y', 'is empty, and with it the whole word'],
    ['x \'{{ "" }}\'', 'is empty, and with it the whole word'],
    ['x {{ "" }}{{ "" }} y', 'is empty, and with it the whole word'],
    ['x {{ "" }}""', 'is empty, and with it the whole word'],
    ['x {{ "" | q }} y', 'is empty, and with it the whole word'],
    ['x {% if 1 %}{{ "" }}{% endif %} y', 'is empty, and with it the whole word'],
    ['x {% for i in [""] %} {{ i }}{% endfor %} y', 'is empty, and with it the whole word'],
    ['{% set a %}{{ "" }}{% endset -%}\nx {{ a }} y', 'is empty, and with it the whole word'],
    ['x {{ "a b" | word }}', 'expected a word of letters'],
    ['x {{ "" | word }}', 'expected a word of letters'],
    ['acl a path {{ "-f" }}', 'which HAProxy would read as a flag'],
    ['acl a path -m beg {{ "-f" }}', 'which HAProxy would read as a flag'],
    ['x if { path {{ "-f" }} }', 'HAProxy'],
    ['http-request deny if { path {{ "-f" }} }', 'which HAProxy would read as a flag'],
    ['http-request deny if { path a {{ "}" }} }', 'as the end of the condition'],
    ['http-request deny if {{ "or" }}', 'as part of a condition'],
    ['http-request deny if {{ "!x" }}', 'as part of a condition'],
    ['http-request deny {{ "if" }}', 'as part of a condition'],
    ['x {{ "a\\nb" | raw }}', 'may only stand alone'],
    ["x {{ '\"' | raw }}", 'ends inside quotes'],
    ['x {{ "#" | raw }}', 'ends inside quotes, a comment'],
  ])('%s', async (body, expected) => {
    expect((await problemsOf({ body })).join('\n')).toContain(expected);
  });

  test.each([
    ['x {{ "" }}a', 'x a'],
    ['x a{{ "" }} y', 'x a y'],
    ['x {{ "" }}{{ "a" }} y', 'x a y'],
    ['x {% if 0 %}{{ "" }}{% endif %} y', 'x  y'],
    ['acl a path -- {{ "-f" }}', 'acl a path -- -f'],
    ['acl a path x {{ "-f" }}', 'acl a path x -f'],
    ['acl a path {{ "}" }}', 'acl a path }'],
    ['http-request deny if { path {{ "!or" }} }', 'http-request deny if { path !or }'],
    ['x ""', 'x ""'],
  ])('%s is fine', async (body, expected) => {
    expect(await renderBody(body)).toBe(`${expected}\n`);
  });
});

describe('whatever the value', () => {
  /** Places, with the words that the line must have; `@` is the value. */
  const places: readonly (readonly [string, readonly string[]])[] = [
    ['x @', ['x', '@']],
    ['x a@b c', ['x', 'a@b', 'c']],
    ['x "@" y', ['x', '@', 'y']],
    ["x '@' y", ['x', '@', 'y']],
    ['x "a @ b"c', ['x', 'a @ bc']],
    [`x a"@"'@'@ y`, ['x', 'a@@@', 'y']],
    ['x y # @', ['x', 'y']],
    ['x @@', ['x', '@@']],
    ['x {% for i in [1, 2] %} a@{% endfor %} y', ['x', 'a@', 'a@', 'y']],
    ['x {% if 1 %}"@"{% else %}z{% endif %} y', ['x', '@', 'y']],
    ['x \\  a@', ['x', ' ', 'a@']],
  ];
  for (const [place, words] of places) {
    const body = place.replaceAll('@', '{{ data.value }}');
    const data = { value: '' };
    const program = compileTemplates({ body, data });
    const config = templateConfig({ body, data });
    const input = {
      config,
      view: fixtureView({}, {}),
      fleet: { haproxyVersion: '3.4.1', paths: { base: '/', workerSocket: '/' } },
    };
    test(`the words are the same: ${place}`, async () => {
      await fc.assert(
        fc.asyncProperty(hostileText, async (value) => {
          data.value = value;
          const options = { signal: new AbortController().signal, deadlineMs: 1000, clock: fakeClock() };
          const { pieces } = await program.render(input, options);
          const lines = (pieces[0] as { text: string }).text.split('\n');
          expect(lines).toHaveLength(2);
          expect(haproxyWords(lines[0]!)).toEqual(words.map((word) => word.replaceAll('@', () => value)));
        }),
        { numRuns: 200 },
      );
    });
  }
});
