import { describe, expect, test } from 'vitest';
import type { RenderPlan } from '../contract/index.ts';
import { problemsOf, renderTemplates } from '../testing/templates.ts';

const service = { apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'ns', name: 'svc', uid: 'u1' } };
const ref = { apiVersion: 'v1', kind: 'Service', namespace: 'ns', name: 'svc', uid: 'u1' };
const other = { apiVersion: 'v1', kind: 'Ingress', namespace: 'ns', name: 'ing' };
const data = {
  service,
  other,
  both: [service, other],
  text: 't',
  backend: { name: 'b', from: 'base', moed: 'tcp' },
};

function at(line: number, objects: readonly unknown[] = []) {
  return { snippet: 'haproxyConfig', source: 'base', line, objects };
}

async function problem(main: string, set: object = {}): Promise<string> {
  return (await problemsOf({ main, data, ...set })).join('\n');
}

describe('section', () => {
  test('is a piece with its text, objects and secrecy', async () => {
    const main = `{% section "global" %}
global
{% endsection %}
{% profiles %}
{% section "userlist u", data.both, {secret: true} %}
userlist u
{% endsection %}
{% section "a" + "b", data.service %}
{% endsection %}`;
    const { pieces } = await renderTemplates({ main, data });
    expect(pieces).toEqual([
      { kind: 'section', name: 'global', text: 'global\n', secret: false, provenance: at(1) },
      { kind: 'profiles', provenance: at(4) },
      {
        kind: 'section',
        name: 'userlist u',
        text: 'userlist u\n',
        secret: true,
        provenance: at(5, [ref, other]),
      },
      { kind: 'section', name: 'ab', text: '', secret: false, provenance: at(8, [ref]) },
    ]);
  });

  test.each([
    ['{% section 5 %}{% endsection %}', 'the name of a section is a number'],
    ['{% section "a\\nb" %}{% endsection %}', 'the name of a section is "a\\nb"'],
    [
      '{% section "a", 5 %}{% endsection %}',
      'expected a Kubernetes object or a reference to one, not a number',
    ],
    ['{% section "a", data.other, {secert: true} %}{% endsection %}', '{secret: true} or {secret: false}'],
    [
      '{% section "a" %}\n{% section "b" %}\n{% endsection %}\n{% endsection %}',
      '{% section %} stands in the main template',
    ],
    ['{% section "a" %}\n{% profiles %}\n{% endsection %}', '{% profiles %} stands in the main template'],
    ['{% set x %}{% section "a" %}{% endsection %}{% endset %}', '{% section %} stands in the main template'],
    ['text', 'text outside of {% section %}'],
    [
      '# fine\n\n   # fine too\n{% if 1 %}\n x\n{% endif %}',
      'haproxyConfig:5:2 text outside of {% section %}',
    ],
    ['{{ 1 }}', 'a value is printed outside of {% section %}'],
  ])('%s', async (main, expected) => {
    expect(await problem(main)).toContain(expected);
  });
});

describe('backend', () => {
  const server = {
    name: 's',
    address: '127.0.0.1',
    port: 80,
    state: 'ready',
    keywords: ['check'],
    guid: 'g',
  };

  test('is a piece with its body and servers', async () => {
    const servers = Object.freeze([Object.freeze({ ...server, keywords: Object.freeze(['check']) })]);
    const main = `{% backend {name: "b1", from: "base", servers: data.servers, objects: data.service} %}
    option x
{% endbackend %}
{% backend {name: "b2", from: "base", mode: "tcp", secret: true, servers: [{name: "s", address: "::1", port: 1}]} %}
{% endbackend %}`;
    const { pieces } = await renderTemplates({ main, data: { ...data, servers } });
    expect(pieces).toEqual([
      {
        kind: 'backend',
        name: 'b1',
        from: 'base',
        mode: 'http',
        servers: [server],
        body: '    option x\n',
        secret: false,
        provenance: at(1, [ref]),
      },
      {
        kind: 'backend',
        name: 'b2',
        from: 'base',
        mode: 'tcp',
        servers: [{ name: 's', address: '::1', port: 1, state: 'ready', keywords: [], guid: '' }],
        body: '',
        secret: true,
        provenance: at(4),
      },
    ]);
    expect(pieces[0]!.kind === 'backend' && pieces[0]!.servers).toBe(servers);
  });

  test.each([
    ['{name: "b", form: "base"}', 'a backend has no key "form", did you mean "from"?'],
    ['{name: "b", form: "base"}', 'a backend needs "from"'],
    ['data.backend', 'a backend has no key "moed", did you mean "mode"?'],
    ['{name: "b", from: "base", mode: "udp"}', 'the mode of a backend is "http" or "tcp"'],
    ['{name: "b c", from: "base"}', 'the name of the backend is "b c"'],
    ['{name: 5, from: "base"}', 'the name of the backend is a number'],
    ['{name: "b", from: ""}', '"from" of the backend is ""'],
    ['5', 'a backend is declared by an object'],
    ['{name: "b", from: "base", servers: 5}', '"servers" of a backend is a number'],
    ['{name: "b", from: "base", servers: [5]}', 'a server is a number'],
    [
      '{name: "b", from: "base", servers: [{name: "s", address: "x", port: 1}]}',
      '"address" of server "s" is a text, expected a literal IP address',
    ],
    [
      '{name: "b", from: "base", servers: [{name: "s", address: "::1", port: "1"}]}',
      '"port" of server "s" is a text',
    ],
    [
      '{name: "b", from: "base", servers: [{name: "s", address: "::1", port: 1, check: true}]}',
      'a server has no key "check"',
    ],
    [
      '{name: "b", from: "base", servers: [{name: "s", address: "::1", port: 1, weight: 257}]}',
      '"weight" of server "s"',
    ],
    [
      '{name: "b", from: "base", servers: [{name: "s", address: "::1", port: 1, keywords: ["ca-file", "/x"]}]}',
      'server "s" names the file "/x"',
    ],
    [
      '{name: "b", from: "base", servers: [{name: "s", address: "::1", port: 1, keywords: [1]}]}',
      '"keywords" of server "s"',
    ],
    ['{name: "b", from: "base", secret: 1}', '"secret" of a backend is true or false'],
  ])('%s', async (declaration, expected) => {
    expect(await problem(`{% backend ${declaration} %}\n{% endbackend %}`)).toContain(expected);
  });

  test('is declared between sections only', async () => {
    const main =
      '{% section "a" %}\n{% backend {name: "b", from: "base"} %}\n{% endbackend %}\n{% endsection %}';
    expect(await problem(main)).toContain('{% backend %} stands in the main template');
  });
});

describe('entries', () => {
  const maps = { hosts: {}, ports: { value: 'int' }, ips: { value: 'ip' } } as const;

  test('keep their order, objects and the objects around them', async () => {
    const main = `{% entry "hosts", "a", "1" %}
{% backend {name: "b", from: "base", objects: data.service} %}
{% entry "ports", "a", 2 %}
{% entries "hosts", [{key: "b", value: "x y"}, {key: "c", value: "z", objects: data.other}] %}
{% endbackend %}
{% entry "ips", "a", "::1" %}`;
    const { entries } = await renderTemplates({ main, data, maps });
    expect(entries).toEqual([
      { map: 'hosts', key: 'a', value: '1', provenance: at(1) },
      { map: 'ports', key: 'a', value: '2', provenance: at(3, [ref]) },
      { map: 'hosts', key: 'b', value: 'x y', provenance: at(4, [ref]) },
      { map: 'hosts', key: 'c', value: 'z', provenance: at(4, [other]) },
      { map: 'ips', key: 'a', value: '::1', provenance: at(6) },
    ]);
  });

  test.each([
    ['"host", "k", "v"', 'no map is named "host", did you mean "hosts"?'],
    ['data.text, "k", "v"', 'no map is named "t"'],
    ['"hosts", "", "v"', 'the key is empty'],
    ['"hosts", "#k", "v"', 'the key begins with "#"'],
    ['"hosts", "a b", "v"', 'the key holds a blank or a control character'],
    ['"hosts", "k", ""', 'the value is empty'],
    ['"hosts", "k", " v"', 'begins or ends with a blank'],
    ['"hosts", "k", "v\\nw"', 'the value holds a control character'],
    ['"hosts", "k", "v\\r"', 'the value holds a control character'],
    ['"hosts", "k", "\\ud800"', 'half a surrogate pair'],
    ['"hosts", "k", "v".repeat(16000)', 'longer than 16000 bytes'],
    ['"hosts", "k", "é".repeat(8000)', 'longer than 16000 bytes'],
    ['"ports", "k", "v"', 'is no integer'],
    ['"ips", "k", "1.2.3"', 'is no IP address'],
    ['"hosts", data.service, "v"', 'is an object, which cannot be printed or joined'],
  ])('%s', async (entry, expected) => {
    expect(await problem(`{% entry ${entry} %}`, { maps })).toContain(expected);
  });

  test.each([
    ['"hosts", 5', 'the entries are a number'],
    ['"hosts", [5]', 'an entry is a number'],
    ['"hosts", [{key: "k"}]', 'is undefined'],
    ['"hots", []', 'no map is named "hots"'],
  ])('%s', async (entries, expected) => {
    expect(await problem(`{% entries ${entries} %}`, { maps })).toContain(expected);
  });
});

describe('certificates, lines, binds, statuses, events and files', () => {
  const pem = '-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n';
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'ns', name: 'tls' },
    data: { 'tls.crt': btoa(pem), 'tls.key': btoa('-----BEGIN PRIVATE KEY-----\nYQ==') },
  };

  test('are declared with where they come from', async () => {
    const main = `{% cert "a", data.secret %}
{% crt "list", "a", "alpn h2", ["a.test", "*.b.test"] %}
{% crt "list", "b" %}
{% bind ":443" %}
{% status data.service, [{type: "Ready", status: "True"}] %}
{% do warn(data.service, "NotFound", "no such backend") %}
{% do files.put("file", "page.html", "<p>") %}`;
    const output = await renderTemplates({ main, data: { ...data, secret } });
    const secretRef = { apiVersion: 'v1', kind: 'Secret', namespace: 'ns', name: 'tls' };
    expect(output).toEqual({
      pieces: [],
      entries: [],
      certificates: [
        { name: 'a', pem: `${pem}-----BEGIN PRIVATE KEY-----\nYQ==\n`, provenance: at(1, [secretRef]) },
      ],
      crtLines: [
        {
          list: 'list',
          certificate: 'a',
          options: 'alpn h2',
          sni: ['a.test', '*.b.test'],
          provenance: at(2),
        },
        { list: 'list', certificate: 'b', options: '', sni: [], provenance: at(3) },
      ],
      binds: [{ address: ':443', provenance: at(4) }],
      k8sResources: [],
      statuses: [{ object: ref, conditions: [{ type: 'Ready', status: 'True' }] }],
      events: [{ object: ref, reason: 'NotFound', message: 'no such backend' }],
      files: [
        {
          kind: 'file',
          name: 'page.html',
          text: '<p>',
          reloadOnChange: true,
          secret: false,
          provenance: at(7),
        },
      ],
    });
  });

  test.each([
    ['{% cert "../a", data.secret %}', 'the name of a file is "../a"'],
    ['{% cert "a", data.service %}', 'a certificate is a Secret'],
    ['{% cert "a", "x" %}', 'holds no "-----BEGIN'],
    ['{% crt "list", "a", "[x]" %}', 'words without brackets'],
    ['{% crt "list", "a", "alpn h2 ca-file /etc/passwd" %}', 'name the file "/etc/passwd"'],
    ['{% crt "list", "a", "crl-file  ca/../../x" %}', 'name the file "ca/../../x"'],
    ['{% crt "list", "a", "", ["a b"] %}', 'the names of a crt-list line'],
    ['{% crt "list", "a", "", ["!a"] %}', 'the names of a crt-list line'],
    ['{% bind "a b" %}', 'the address of a bind is "a b"'],
    ['{% status data.service, 5 %}', 'expected a list'],
    ['{% do warn(data.service, "not a reason", "m") %}', 'the reason of a warning is one word'],
    ['{% do warn(5, "R", "m") %}', 'expected a Kubernetes object'],
    ['{% do files.put("map", "a", "b") %}', 'of kind "file" or "ca"'],
    ['{% do files.put("file", "a/b", "b") %}', 'the name of a file is "a/b"'],
    ['{% do files.put("file", ".a", "b") %}', 'the name of a file is ".a"'],
    ['{% do files.put("file", "a") %}', 'expected files.put(kind, name, text), found 2 arguments'],
    ['{% do files.puut("file", "a", "b") %}', '"files" has no member "puut", did you mean "put"?'],
    ['{% do fail(path("mapp", "a")) %}', 'did you mean "map"?'],
  ])('%s', async (main, expected) => {
    expect(await problem(main, { data: { ...data, secret } })).toContain(expected);
  });
});

test('what was accepted last is seen as current', async () => {
  const plan = {
    backends: { b: { servers: [{ name: 's' }] } },
    files: [{ path: 'maps/hosts.map', digest: 'd1' }],
  } as unknown as RenderPlan;
  const files = {
    f: '{{ current?.servers.b[0].name ?? "none" }} {{ current?.files["maps/hosts.map"] ?? "none" }}',
  };
  const text = async (current?: RenderPlan) =>
    (await renderTemplates({ main: '', files, ...(current === undefined ? {} : { current }) })).files[0]!
      .text;
  expect(await text()).toBe('none none');
  expect(await text(plan)).toBe('s d1');
});
