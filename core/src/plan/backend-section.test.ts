import { describe, expect, it } from 'vitest';
import { sha256 } from '../controller/sha256.ts';
import { backend, server } from '../testing/render-output.ts';
import { buildBackend, type BuiltBackend } from './backend-section.ts';
import { PlanMemo } from './memo.ts';
import { Problems } from './problems.ts';
import type { BaseHarm } from './proxy-lines.ts';

function build(overrides: Parameters<typeof backend>[1], base: BaseHarm = {}): BuiltBackend {
  const problems = new Problems();
  const built = buildBackend(backend('app', overrides), base, new PlanMemo(sha256), problems);
  problems.refuse();
  return built;
}

describe('a dynamic backend', () => {
  it('leaves its directives to the profile and holds servers by name', () => {
    const built = build({
      body: '    balance leastconn\n  http-request set-header X-A b\n',
      servers: [
        server('b', { weight: 3 }),
        server('a', { address: '2001:db8::1', port: 80, keywords: ['check'] }),
      ],
    });
    const profile = built.profile!;
    expect(profile.text).toBe(
      `defaults ${built.record.profile} from base\n    mode http\n    balance leastconn\n    http-request set-header X-A b\n`,
    );
    expect(built.text).toBe(
      `backend app from ${built.record.profile}\n    guid be:app\n` +
        '    server a [2001:db8::1]:80 check guid sv:a\n    server b 10.0.0.1:8080 weight 3 guid sv:b\n',
    );
    expect(built.record).toMatchObject({ shape: 'dynamic', mode: 'http', guid: 'be:app' });
    expect(built.record.servers.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('shares its profile whatever indentation, blank lines and comments stand in the body', () => {
    const profile = (body: string): string => build({ body }).record.profile;
    expect(profile('  # of a\n\n  retries 3\n')).toBe(profile('retries 3\n'));
    expect(profile('retries 3\n')).not.toBe(profile('retries 4\n'));
  });

  it('has another profile for another base or mode', () => {
    const profile = (overrides: object): string =>
      build({ body: 'retries 3\n', ...overrides }).record.profile;
    expect(new Set([profile({}), profile({ from: 'other' }), profile({ mode: 'tcp' })]).size).toBe(3);
  });

  it('writes states as a file can say them', () => {
    const { text } = build({
      servers: [server('a', { state: 'drain', weight: 5 }), server('b', { state: 'maint', weight: 5 })],
    });
    expect(text).toContain('server a 10.0.0.1:8080 weight 0 guid');
    expect(text).toContain('server b 10.0.0.1:8080 weight 5 disabled guid');
  });

  it('escapes what is special in a keyword', () => {
    const keywords = ['cookie', `a b#"'\\$`, 'sni', 'str(x y)'];
    expect(build({ servers: [server('a', { keywords })] }).text).toContain(
      `cookie a\\ b\\#\\"\\'\\\\$ sni str(x\\ y) guid`,
    );
  });

  it('gives a guid to servers that have none', () => {
    const built = build({ servers: [server('a', { guid: '' })] });
    expect(built.record.servers[0]!.guid).toBe('srv:app:a');
    expect(built.text).toContain('server a 10.0.0.1:8080 guid srv:app:a');
  });

  it('has a guid that HAProxy takes, however long its name', () => {
    const problems = new Problems();
    const long = buildBackend(backend('x'.repeat(200)), {}, new PlanMemo(sha256), problems);
    expect(long.record.guid.length).toBeLessThan(128);
  });
});

describe('a static backend', () => {
  const cases = [
    ['errorfiles pages', 'errorfiles: inherited it crashes the worker'],
    ['http-request cache-use c', 'http-request cache-use: inherited it crashes the worker'],
    ['http-response cache-store c', 'http-response cache-store: the cache belongs to the backend'],
    ['compression algo gzip', 'compression: has no effect on a runtime backend'],
    ['default-server check', 'default-server: has no effect on servers added at run time'],
    ['filter trace', 'filter: not known to be inherited'],
    ['stick-table type ip size 1m', 'stick-table: not known to be inherited'],
    ['balance source', 'balance source: takes servers at run time only with "hash-type consistent"'],
    ['balance static-rr', 'balance static-rr: does not take servers at run time'],
    ['tcp-request content set-bandwidth-limit x', 'names a filter'],
    ['http-request "cache-use" c', 'http-request: not known to be inherited'],
    ['http-request ${ACTION} c', 'http-request: not known to be inherited'],
    ['"errorfiles" pages', 'not known to be inherited'],
    ['option transparent', 'option transparent: such a backend cannot be removed at run time'],
    ['server-template x 3 a:1', 'server-template: not known to be inherited'],
  ] as const;

  it.each(cases)('keeps %j to itself', (directive, reason) => {
    const built = build({ body: `    retries 3\n    ${directive}\n` });
    expect(built.profile).toBeUndefined();
    expect(built.record).toMatchObject({ shape: 'static', profile: 'base' });
    expect(built.record.shapeReason).toContain(reason);
    expect(built.text).toContain(
      `backend app from base\n    guid be:app\n    mode http\n    retries 3\n    ${directive}\n`,
    );
  });

  it.each([
    [['resolvers', 'dns'], 'server keyword "resolvers"'],
    [['check', 'check-proto', 'h2'], 'server keyword "check-proto"'],
    [['ssl'], 'server keyword "ssl" needs "verify"'],
    [['ssl', 'verify', 'required', 'ca-file', 'ca/x.pem'], 'server keyword "ca-file"'],
    [['inter', 'check', 'redir', '/'], 'server keyword "redir"'],
    [['disabled'], 'server keyword "disabled"'],
    [['check', 'weight', '5'], 'server keyword "weight"'],
    [['agent-check', 'agent-port', '9'], 'server keyword "agent-check"'],
  ])('has a server with the keywords %j', (keywords, reason) => {
    expect(build({ servers: [server('a', { keywords })] }).record.shapeReason).toContain(reason);
  });

  it('inherits the harm of its base', () => {
    expect(build({}, { backend: 'errorfiles in defaults "base"' }).record).toMatchObject({
      shape: 'static',
      shapeReason: 'errorfiles in defaults "base"',
    });
  });
});

describe('what stays dynamic', () => {
  it.each([
    'balance roundrobin',
    'balance random(3)',
    'balance hdr(X-User)\nhash-type consistent',
    'balance source\n  hash-type consistent',
    'acl a path /x',
    'http-request set-var(txn.a) str(b)',
    'http-request lua.x',
    'http-request deny if a',
    'http-response set-header A b',
    'http-after-response set-header A b',
    'tcp-request content reject',
    'timeout server 5s',
    'option httpchk GET /',
    'http-check expect status 200',
    'cookie X insert indirect nocache',
    'errorfile 503 files/503.http',
  ])('%j', (body) => {
    expect(build({ body: `${body}\n` }).record.shape).toBe('dynamic');
  });

  it('servers with every keyword that can be added at run time', () => {
    const keywords = 'check inter 2s ssl verify none sni req.hdr(host) alpn h2 ca-file @system-ca'.split(' ');
    expect(build({ servers: [server('a', { keywords })] }).record.shape).toBe('dynamic');
  });
});

describe('refusals', () => {
  it.each([
    [{ body: 'server a 1.1.1.1:80\n' }, '"server" is written from the keys of the backend tag'],
    [{ body: 'mode tcp\n' }, '"mode" is written'],
    [{ body: 'frontend x\n' }, '"frontend" begins another section'],
    [{ from: 'a b' }, '"a b" is no name of a defaults section'],
    [{ servers: [server('a'), server('a')] }, 'server "a" is there twice'],
    [{ servers: [server('a b')] }, 'the name of server "a b" must match'],
    [{ servers: [server('a', { address: 'example.org' })] }, 'literal IP address, not "example.org"'],
    [{ servers: [server('a', { address: '1.2.3.4.5' })] }, 'literal IP address'],
    [{ servers: [server('a', { port: 0 })] }, 'from 1 to 65535, not 0'],
    [{ servers: [server('a', { weight: 257 })] }, 'from 0 to 256, not 257'],
    [{ servers: [server('a', { guid: 'a b' })] }, 'the guid of server "a" must match'],
    [{ servers: [server('a', { keywords: ['cookie', ''] })] }, 'keyword "" of server "a"'],
    [{ servers: [server('a', { keywords: ['cookie', 'x\ny'] })] }, 'keyword "x\\ny" of server "a"'],
  ])('of %j name the backend and its object', (overrides, message) => {
    expect(() => build(overrides)).toThrow(message);
    expect(() => build(overrides)).toThrow(/^main:1: backend "app": .*\[Ingress default\/app \(main:1\)\]$/s);
  });
});
