import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAIN_CONFIG, type Rendered, type Server } from '../contract/index.ts';
import { sha256 } from '../controller/sha256.ts';
import {
  backend,
  base,
  mapContent,
  profiles,
  provenanceOf,
  renderOutput,
  section,
  server,
} from '../testing/render-output.ts';
import type { BackendPiece, RenderOutput } from '../templates/output.ts';
import { assemble } from './assemble.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import { diff } from './diff/diff.ts';
import { PlanMemo } from './memo.ts';

const maps = { hosts: mapContent({ layer: 'host' }), auth: mapContent({ secret: true }) };
const PEM = '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n';
const frontend = section(
  'frontend http',
  'frontend http from base\n    bind :80\n    use_backend %[var(txn.t)]\n',
);

function render(output: Partial<RenderOutput>, memo = new PlanMemo(sha256)): Rendered {
  return assemble(renderOutput(output), { maps }, memo);
}

function text(rendered: Rendered, path = MAIN_CONFIG): string {
  return new TextDecoder().decode(rendered.files.read(path));
}

const full: Partial<RenderOutput> = {
  pieces: [
    section('global', 'global\n    maxconn 100\n'),
    base,
    profiles,
    frontend,
    backend('b', { body: 'retries 3\n', servers: [server('p1')] }),
    backend('a', { body: 'retries 3\n' }),
    backend('s', { body: 'compression algo gzip\n', secret: true }),
  ],
  entries: [
    { map: 'hosts', key: 'b.test', value: 'b', provenance: provenanceOf('b') },
    { map: 'hosts', key: 'a.test', value: 'a', provenance: provenanceOf('a') },
  ],
  files: [
    {
      kind: 'file',
      name: '503.http',
      text: 'HTTP/1.0 503\r\n\r\n',
      reloadOnChange: false,
      secret: false,
      provenance: provenanceOf('f'),
    },
    {
      kind: 'ca',
      name: 'clients',
      text: PEM,
      reloadOnChange: true,
      secret: false,
      provenance: provenanceOf('f'),
    },
  ],
  certificates: [
    { name: 'default_tls', pem: PEM.replaceAll('\n', '\r\n').trimEnd(), provenance: provenanceOf('c') },
  ],
  crtLines: [
    {
      list: 'https',
      certificate: 'default_tls',
      options: 'alpn h2',
      sni: ['a.test', '*.b.test'],
      provenance: provenanceOf('l1'),
    },
    { list: 'https', certificate: 'default_tls', options: '', sni: [], provenance: provenanceOf('l2') },
  ],
  binds: [
    { address: ':80', provenance: provenanceOf('x') },
    { address: ':443', provenance: provenanceOf('x') },
    { address: ':80', provenance: provenanceOf('x') },
  ],
  k8sResources: [
    {
      name: 'r',
      text: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: z}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\n',
      provenance: provenanceOf('r'),
    },
  ],
  statuses: [{ b: 1 }, { a: 1 }, { b: 1 }],
};

describe('haproxy.cfg', () => {
  it('is the concatenation of its sections, the stamp first', () => {
    const rendered = render(full);
    const { sections, textId } = rendered.plan;
    expect(sections.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'stamp stamp',
      'core global',
      'core base',
      expect.stringMatching(/^profile be-[0-9a-f]{16}$/),
      'core frontend http',
      'backend b',
      'backend a',
      'backend s',
    ]);
    const config = rendered.files.read(MAIN_CONFIG);
    expect(text(rendered)).toMatch(
      new RegExp(`^global\\n    setenv HAPTIC_TEXT ${textId}\\nglobal\\n    maxconn 100\\n`),
    );
    let at = 0;
    for (const { kind, digest, length } of sections) {
      const part = config.subarray(at, (at += length));
      if (kind !== 'stamp') expect(sha256(part)).toBe(digest);
    }
    expect(at).toBe(config.length);
    expect(sections.at(-1)).toMatchObject({ secret: true });
  });

  it('names every file with digest and size of its bytes', () => {
    const rendered = render(full);
    expect(rendered.plan.files.map(({ path }) => path)).toEqual([
      'ca/clients.pem',
      'certs/default_tls.pem',
      'crt-lists/https.txt',
      'files/503.http',
      'haproxy.cfg',
      'maps/auth.map',
      'maps/hosts.map',
    ]);
    for (const { path, digest, size } of rendered.files.entries) {
      expect([path, sha256(rendered.files.read(path)), rendered.files.read(path).length]).toEqual([
        path,
        digest,
        size,
      ]);
    }
    expect(text(rendered, 'crt-lists/https.txt')).toBe(
      'certs/default_tls.pem [alpn h2] a.test *.b.test\ncerts/default_tls.pem\n',
    );
    expect(text(rendered, 'certs/default_tls.pem')).toBe(PEM);
    expect(() => rendered.files.read('none')).toThrow('the file set has no file "none"');
  });

  it('holds what moves with the deployment in canonical order, each once', () => {
    const { plan } = render(full);
    expect(plan.binds).toEqual([{ address: ':443' }, { address: ':80' }]);
    expect(plan.k8sResources.map(({ metadata }) => metadata)).toEqual([{ name: 'y' }, { name: 'z' }]);
    expect(plan.statuses).toEqual([{ a: 1 }, { b: 1 }]);
  });
});

describe('identity', () => {
  it('of the text and the plan leaves out what does not reach a pod', () => {
    const before = render(full).plan;
    const moved = render({ ...full, statuses: [], k8sResources: [] }).plan;
    expect([moved.id, moved.textId]).toEqual([before.id, before.textId]);
    expect(moved.releaseId).not.toBe(before.releaseId);
  });

  it('of the text stays when only a map changes', () => {
    const before = render(full).plan;
    const after = render({ ...full, entries: [] }).plan;
    expect(after.textId).toBe(before.textId);
    expect(after.files.find(({ path }) => path === MAIN_CONFIG)).toEqual(
      before.files.find(({ path }) => path === MAIN_CONFIG),
    );
    expect(after.id).not.toBe(before.id);
  });

  it.each<[string, Partial<RenderOutput>]>([
    ['a file', { files: full.files!.slice(1) }],
    ['a flag of a file', { files: full.files!.map((file) => ({ ...file, reloadOnChange: true })) }],
    [
      'a certificate',
      { certificates: full.certificates!.map((cert) => ({ ...cert, pem: PEM.replace('MII', 'MIJ') })) },
    ],
    ['a line of a crt-list', { crtLines: full.crtLines!.slice(1) }],
    ['a bind', { binds: full.binds!.slice(1, 2) }],
    ['a section', { pieces: full.pieces!.slice(1) }],
    [
      'the order of sections',
      { pieces: [...full.pieces!.slice(0, -2), ...full.pieces!.slice(-2).toReversed()] },
    ],
  ])('of the plan moves with %s', (_what, change) => {
    const before = render(full).plan;
    expect(render({ ...full, ...change }).plan.id).not.toBe(before.id);
  });

  it('does not depend on provenance', () => {
    const elsewhere = full.pieces!.map((piece) => ({ ...piece, provenance: provenanceOf('elsewhere', 9) }));
    expect(render({ ...full, pieces: elsewhere }).plan.id).toBe(render(full).plan.id);
  });
});

describe('locate', () => {
  it('finds what declared a line', () => {
    const rendered = render(full);
    const lines = text(rendered).split('\n');
    const objects = (path: string, line: number): unknown =>
      rendered.locate(path, line)?.objects.map(({ name }) => name);
    expect(objects(MAIN_CONFIG, lines.indexOf('    maxconn 100') + 1)).toEqual([]);
    expect(objects(MAIN_CONFIG, lines.findIndex((line) => line.startsWith('backend a ')) + 1)).toEqual(['a']);
    expect(objects(MAIN_CONFIG, lines.findIndex((line) => line.includes('server p1')) + 1)).toEqual(['b']);
    expect(objects(MAIN_CONFIG, 1)).toBeUndefined();
    expect(objects(MAIN_CONFIG, 0)).toBeUndefined();
    expect(objects(MAIN_CONFIG, lines.length + 1)).toBeUndefined();
    expect(objects('maps/hosts.map', 1)).toEqual(['a']);
    expect(objects('maps/hosts.map', 3)).toBeUndefined();
    expect(objects('crt-lists/https.txt', 2)).toEqual(['l2']);
    expect(objects('certs/default_tls.pem', 2)).toEqual(['c']);
    expect(objects('none', 1)).toBeUndefined();
  });

  it('names every backend that has the profile of a line', () => {
    const body = '    http-request deny\n';
    const alike = ['x', 'y'].map((name) => backend(name, { body, provenance: provenanceOf(name) }));
    const rendered = render({ ...full, pieces: [...full.pieces!, ...alike, backend('z', { body: '' })] });
    const line = text(rendered).split('\n').indexOf('    http-request deny') + 1;
    expect(rendered.locate(MAIN_CONFIG, line)?.objects.map(({ name }) => name)).toEqual(['x', 'y']);
  });
});

describe('refusals', () => {
  const refused = (change: Partial<RenderOutput>): unknown => {
    try {
      return render({ ...full, ...change });
    } catch (error) {
      return (error as Error).message;
    }
  };
  const pieces = (...more: RenderOutput['pieces']): Partial<RenderOutput> => ({
    pieces: [...full.pieces!, ...more],
  });

  it('of two proxies of one name tell both objects', () => {
    const twice = backend('a', { provenance: provenanceOf('other', 7) });
    expect(refused(pieces(twice))).toContain(
      'main:7: proxy "a" is declared twice: by Ingress default/a (main:1) and by Ingress default/other (main:7)',
    );
    expect(refused(pieces(section('x', 'defaults a\n')))).toContain('proxy "a" is declared twice');
    expect(refused(pieces(section('x', 'listen y from base\nbackend http from base\n')))).toContain(
      'proxy "http" is declared twice',
    );
  });

  it('of a proxy without an explicit defaults', () => {
    expect(refused(pieces(section('x', '# c\n  frontend y\n')))).toContain(
      'frontend "y" must name its defaults',
    );
    expect(refused(pieces(section('x', 'backend y from bsae\n')))).toContain(
      'backend "y": no defaults section is named "bsae", did you mean "base"?',
    );
    expect(refused(pieces(backend('y', { from: 'bsae' })))).toContain(
      'backend "y": no defaults section is named "bsae"',
    );
  });

  it('of profiles that are nowhere, too late or twice', () => {
    expect(refused({ pieces: [base, backend('a')] })).toContain(
      'a {% profiles %} is needed before backend "a"',
    );
    expect(refused({ pieces: [base, backend('a'), profiles] })).toContain(
      '{% profiles %} must stand before backend "a"',
    );
    expect(refused(pieces(profiles))).toContain('{% profiles %} stands here for the second time');
    expect(refused({ pieces: [base, backend('a', { body: 'filter trace\n' })], entries: [] })).toMatchObject({
      plan: {},
    });
  });

  it('of a defaults section that crashes the worker', () => {
    expect(refused(pieces(section('x', 'defaults d\n    http-request cache-use c\n')))).toContain(
      'defaults "d" must not hold "http-request cache-use"',
    );
  });

  it.each<[string, Partial<RenderOutput>]>([
    ['file "files/a" is declared twice', { files: [put('a', '1'), put('a', '2')] }],
    ['"../a" is no name of a file', { files: [put('../a', '1')] }],
    ['"/a" is no name of a file', { files: [put('/a', '1')] }],
    ['".a" is no name of a file', { files: [put('.a', '1')] }],
    ['is longer than the 240 characters', { files: [put('a'.repeat(241), '1')] }],
    ['file "files/a" holds a lone surrogate', { files: [put('a', '\ud800')] }],
    ['CA file "clients" holds no "-----BEGIN', { files: [{ ...full.files![1]!, text: 'x' }] }],
    [
      'certificate "default_tls" holds no "-----BEGIN',
      { certificates: [{ ...full.certificates![0]!, pem: 'x' }] },
    ],
    [
      'certificate "default_tls" holds a character',
      { certificates: [{ ...full.certificates![0]!, pem: `${PEM}\0` }] },
    ],
    [
      'no certificate is named "default_tsl", did you mean "default_tls"?',
      crt({ certificate: 'default_tsl' }),
    ],
    ['SNI filter "a b" must match', crt({ sni: ['a b'] })],
    ['SNI filter "x[y]z" must match', crt({ sni: ['x[y]z'] })],
    ['its options hold a bracket', crt({ options: 'alpn h2] [x' })],
    [
      'resource "r" is no YAML',
      { k8sResources: [{ name: 'r', text: 'a: [', provenance: provenanceOf('r') }] },
    ],
    [
      'resource "r" must have apiVersion',
      { k8sResources: [{ name: 'r', text: 'a: 1', provenance: provenanceOf('r') }] },
    ],
    [
      'is declared twice: by Ingress default/r (main:1) and by',
      { k8sResources: [...full.k8sResources!, ...full.k8sResources!] },
    ],
  ])('say %j', (message, change) => {
    expect(refused(change)).toContain(message);
  });

  it('are told all at once, up to a bound', () => {
    expect(refused({ files: [put('../a', '1'), put('../b', '1')] })).toMatch(/"..\/a".*\n.*"..\/b"/);
    const many = Array.from({ length: 60 }, (_, index) => put(`../${index}`, ''));
    expect(refused({ files: many })).toContain('and 10 more problem(s)');
  });

  it('are told again when nothing changed', () => {
    const memo = new PlanMemo(sha256);
    const output = { pieces: [base, profiles, backend('a b'), section('x', 'frontend y\n')] };
    const attempt = (): unknown => render(output, memo);
    expect(attempt).toThrow(/"y" must name.*\n.*"a b"/s);
    expect(attempt).toThrow(/"y" must name.*\n.*"a b"/s);
  });

  it('are none for an equal file that is put twice', () => {
    expect(refused({ files: [put('a', '1'), put('a', '1')] })).toMatchObject({ plan: {} });
  });

  function put(name: string, content: string): RenderOutput['files'][number] {
    return {
      kind: 'file',
      name,
      text: content,
      reloadOnChange: true,
      secret: false,
      provenance: provenanceOf(name),
    };
  }
  function crt(change: object): Partial<RenderOutput> {
    return { crtLines: [{ ...full.crtLines![0]!, ...change }] };
  }
});

it('makes every backend static whose base a runtime backend cannot inherit', () => {
  const harmful = section('base', 'defaults base\n    errorfiles pages\n');
  const derived = section('derived', 'defaults derived from base\n    mode http\n');
  const { plan } = render({ pieces: [harmful, derived, profiles, backend('a', { from: 'derived' })] });
  expect(plan.backends['a']).toMatchObject({
    shape: 'static',
    shapeReason: 'errorfiles pages in defaults "base": inherited it crashes the worker',
  });
});

it('takes a compressing frontend for what it is', () => {
  const compressing = section('base', 'defaults base\n    mode http\n    compression algo gzip\n');
  expect(render({ pieces: [compressing, profiles, backend('a')] }).plan.backends['a']!.shape).toBe('dynamic');
});

describe('a memo', () => {
  const anew = (output: Partial<RenderOutput>): Partial<RenderOutput> => ({
    ...output,
    pieces: output.pieces!.map((piece) => ({ ...piece, provenance: { ...piece.provenance } })),
    entries: output.entries!.map((entry) => ({ ...entry, provenance: { ...entry.provenance } })),
  });

  it('keeps what did not change identical, also where it was declared anew', () => {
    const memo = new PlanMemo(sha256);
    const before = render(full, memo).plan;
    const after = render(anew(full), memo).plan;
    for (const [index, section] of after.sections.entries()) {
      if (section.kind === 'core' || section.kind === 'backend') expect(section).toBe(before.sections[index]);
    }
    expect(after.maps['maps/hosts.map']).toBe(before.maps['maps/hosts.map']);
    expect(after.backends['b']).toBe(before.backends['b']);
  });

  it.each<[string, (piece: BackendPiece) => BackendPiece]>([
    ['its body', (piece) => ({ ...piece, body: 'retries 4\n' })],
    ['its base', (piece) => ({ ...piece, from: 'other' })],
    ['its mode', (piece) => ({ ...piece, mode: 'tcp' })],
    ['a server', (piece) => ({ ...piece, servers: [server('p1', { port: 81 })] })],
    ['the number of its servers', (piece) => ({ ...piece, servers: [] })],
    ['its secrecy', (piece) => ({ ...piece, secret: true })],
    ['its object', (piece) => ({ ...piece, provenance: provenanceOf('elsewhere') })],
    ['its line', (piece) => ({ ...piece, provenance: { ...piece.provenance, line: 99 } })],
  ])('never hides a change of a backend: %s', (_what, change) => {
    const memo = new PlanMemo(sha256);
    const other = section('other', 'defaults other\n    mode http\n');
    const pieces = [other, ...full.pieces!];
    render({ ...full, pieces }, memo);
    const changed = pieces.map((piece) =>
      piece.kind === 'backend' && piece.name === 'b' ? change(piece) : piece,
    );
    const warm = render({ ...full, pieces: changed }, memo).plan;
    expect(canonicalJson(warm)).toBe(canonicalJson(render({ ...full, pieces: changed }).plan));
    expect(canonicalJson(warm)).not.toBe(canonicalJson(render({ ...full, pieces }).plan));
  });

  it('never hides that a base has become harmful', () => {
    const memo = new PlanMemo(sha256);
    render(full, memo);
    const pieces = full.pieces!.map((piece) =>
      piece === base ? section('base', 'defaults base\n    errorfiles pages\n') : piece,
    );
    expect(render({ ...full, pieces }, memo).plan.backends['b']!.shape).toBe('static');
  });
});

describe('any render', () => {
  const arbName = fc.stringMatching(/^[a-z_.:-]{1,6}$/).filter((name) => !['base', 'http'].includes(name));
  const arbServer: fc.Arbitrary<Server> = fc
    .tuple(
      arbName,
      fc.constantFrom<readonly string[]>([], ['check'], ['resolvers', 'x']),
      fc.constantFrom('ready', 'drain', 'maint'),
    )
    .map(([name, keywords, state]) => server(name, { keywords, state }));
  const arbBackend = fc
    .tuple(
      arbName,
      fc.constantFrom('', 'retries 3\n', 'filter trace\n'),
      fc.uniqueArray(arbServer, { selector: ({ name }) => name, maxLength: 4 }),
    )
    .map(([name, body, servers]) => backend(name, { body, servers }));
  const arbOutput = fc
    .record({
      backends: fc.uniqueArray(arbBackend, { selector: ({ name }) => name, maxLength: 8 }),
      keys: fc.uniqueArray(arbName, { maxLength: 20 }),
    })
    .map(({ backends, keys }) => ({
      ...full,
      pieces: [base, profiles, frontend, ...backends],
      entries: keys.map((key) => ({ map: 'hosts', key, value: 'v', provenance: provenanceOf(key) })),
    }));

  it('is the same whatever the order of entries, servers, files and resources, with and without a memo', () => {
    const warm = new PlanMemo(sha256);
    fc.assert(
      fc.property(arbOutput, (output) => {
        const shuffled = {
          ...output,
          pieces: output.pieces.map((piece) =>
            piece.kind === 'backend' ? { ...piece, servers: piece.servers.toReversed() } : piece,
          ),
          entries: output.entries.toReversed(),
          files: full.files!.toReversed(),
          certificates: full.certificates!.toReversed(),
          k8sResources: full.k8sResources!.toReversed(),
          statuses: full.statuses!.toReversed(),
          binds: full.binds!.toReversed(),
        };
        const plan = canonicalJson(render(output).plan);
        expect(canonicalJson(render(shuffled, warm).plan)).toBe(plan);
        expect(canonicalJson(render(output, warm).plan)).toBe(plan);
        expect(canonicalJson(render(output, warm).plan)).toBe(plan);
      }),
    );
  });

  it('survives canonical JSON unchanged', () => {
    fc.assert(
      fc.property(arbOutput, (output) => {
        const { plan } = render(output);
        const parsed: unknown = JSON.parse(canonicalJson(plan));
        expect(parsed).toEqual(plan);
        expect(canonicalJson(parsed)).toBe(canonicalJson(plan));
      }),
    );
  });

  it('differs from itself in nothing, also when it went through JSON', () => {
    fc.assert(
      fc.property(arbOutput, (output) => {
        const next = render(output).plan;
        const pod = { name: 'p', ops: [] };
        expect(diff({ next, pod: { ...pod, baseline: next } })).toMatchObject({
          mode: 'noop',
          reasons: [],
          files: [],
        });
        const stored = JSON.parse(canonicalJson(next)) as typeof next;
        expect(diff({ next, pod: { ...pod, baseline: stored } })).toMatchObject({ mode: 'noop', files: [] });
      }),
    );
  });

  it('takes a pod from any other one: with the files of the diff it has the files of the plan', () => {
    fc.assert(
      fc.property(arbOutput, arbOutput, (a, b) => {
        const baseline = render(a).plan;
        const next = render(b).plan;
        const plan = diff({ next, pod: { name: 'p', ops: [], baseline } });
        const files = new Map(baseline.files.map(({ path, digest }) => [path, digest]));
        for (const { path, digest } of plan.files) files.set(path, digest);
        for (const { path, digest } of next.files) expect(files.get(path)).toBe(digest);
        expect(plan.mode === 'noop').toBe(baseline.id === next.id);
        expect(plan.reasons.length > 0).toBe(plan.mode !== 'noop');
      }),
    );
  });
});
