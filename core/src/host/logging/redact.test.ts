import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PluginError } from '../../contract/errors.ts';
import { redact } from './redact.ts';
import { redactText } from '../../contract/redact-text.ts';

const HIDDEN = 'hunter2-S3cret';
const pem = `-----BEGIN RSA PRIVATE KEY-----\n${HIDDEN}\n-----END RSA PRIVATE KEY-----`;
const jwt = `eyJhbGciOiJIUzI1NiJ9.${Buffer.from(HIDDEN).toString('base64url')}.c2ln`;

const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'web',
    namespace: 'shop',
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': HIDDEN },
  },
  data: { 'tls.key': HIDDEN },
  stringData: { any: HIDDEN },
};

class Opaque {
  toJSON() {
    return { password: HIDDEN };
  }
}

const shownBase64 = Buffer.from(HIDDEN).toString('base64');

describe('redact', () => {
  it.each<[string, unknown]>([
    ['a token', { token: HIDDEN }],
    ['a token in any spelling', { 'x-access-token': HIDDEN, bearerToken: HIDDEN, ID_TOKEN: HIDDEN }],
    ['headers', { headers: { Authorization: `Basic ${shownBase64}`, 'Set-Cookie': HIDDEN, cookie: HIDDEN } }],
    ['a list under such a name', { passwords: 'none', password: [HIDDEN] }],
    ['an authorization in a text', { line: `authorization: Bearer ${HIDDEN}` }],
    ['a JWT in a text', { line: `got ${jwt} from the file` }],
    ['Secret data', { object: secret }],
    ['a Secret in a list', { items: [secret] }],
    [
      'a SecretList, whose items do not name their kind',
      { kind: 'SecretList', items: [{ data: { a: HIDDEN } }] },
    ],
    ['a Secret as text', { body: JSON.stringify(secret) }],
    ['a Secret as indented text', { body: JSON.stringify(secret, undefined, 2) }],
    ['a TLS key without its object', { 'tls.key': HIDDEN }],
    ['a PEM block', { text: `key:\n${pem}\nend` }],
    ['a PEM block that was cut', { text: pem.slice(0, -10) }],
    ['a PEM block in base64', { text: Buffer.from(pem).toString('base64') }],
    ['bytes', { bytes: Buffer.from(HIDDEN) }],
    ['credentials in an address', { url: `https://user:${HIDDEN}@registry.example/x` }],
    ['a query parameter', { url: `https://registry.example/x?token=${HIDDEN}&a=1` }],
    [
      'an error, its stack, fields and causes',
      { err: new PluginError('PLUGIN_HOOK', 'x', pem, { cause: new Error(pem) }) },
    ],
    ['errors of an error', { err: new AggregateError([new Error(pem)], pem) }],
    ['a map', { map: new Map([['password', HIDDEN]]) }],
    ['a set', { set: new Set([pem]) }],
    ['what an object shows of itself', { opaque: new Opaque() }],
    ['something deep', { a: { b: [{ c: { d: { password: HIDDEN } } }] } }],
  ])('hides %s', (_, value) => {
    const text = JSON.stringify(redact(value));
    expect(text).toContain(_ === 'bytes' ? 'bytes]' : '[redacted');
    for (const hidden of [HIDDEN, shownBase64, Buffer.from(HIDDEN).toString('base64url')]) {
      expect(text).not.toContain(hidden);
    }
  });

  it('keeps what is needed to find the Secret', () => {
    expect(redact(secret)).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      namespace: 'shop',
      name: 'web',
      data: '[redacted]',
    });
  });

  it('leaves everything else as it is', () => {
    const fields = {
      secretName: 'web',
      secret: true,
      tokens: 3,
      token: null,
      message: 'basic authentication is off; see https://example.org:8443/a@b',
      nested: [1, 'a', false, undefined],
    };
    expect(redact(fields)).toEqual(fields);
  });

  it('shows an error with its class, its fields and its causes', () => {
    const error = new PluginError('PLUGIN_HOOK', 'a', 'broke', { hook: 'load', cause: new TypeError('why') });
    expect(redact({ err: error })).toMatchObject({
      err: {
        type: 'PluginError',
        message: 'a: broke',
        code: 'PLUGIN_HOOK',
        plugin: 'a',
        hook: 'load',
        cause: { type: 'TypeError', message: 'why' },
        stack: expect.stringContaining('redact.test.ts') as string,
      },
    });
  });

  it('survives what cannot be copied', () => {
    const hostile: Record<string, unknown> = {
      get broken(): never {
        throw new Error('no');
      },
      big: 10n,
      run: () => {},
      symbol: Symbol('s'),
      long: Array.from({ length: 1000 }, () => 1),
    };
    hostile['self'] = hostile;
    const copy = redact(hostile) as Record<string, unknown>;
    expect(copy).toMatchObject({ broken: '[unreadable]', big: '10', run: '[function]', self: '[circular]' });
    expect(copy['long']).toHaveLength(201);
    expect(JSON.stringify(copy).length).toBeLessThan(2_000);
  });

  it('makes JSON of anything, and never changes it', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withMap: true, withSet: true, withDate: true }),
        (value) => {
          expect(() => JSON.stringify(redact({ value }))).not.toThrow();
        },
      ),
    );
    const frozen = Object.freeze({ token: HIDDEN, list: Object.freeze([Object.freeze({ a: 1 })]) });
    redact(frozen);
    expect(frozen.token).toBe(HIDDEN);
  });

  it.each(['a.', 'eyJaaaaa-', '-----BEGIN A', 'Bearer ', '://a:', '"kind" ', 'LS0tLS1CRUdJTi'])(
    'needs linear time for a long repetition of %j',
    (part) => {
      const start = performance.now();
      redactText(part.repeat(Math.ceil(64_000 / part.length)));
      expect(performance.now() - start).toBeLessThan(1_000);
    },
  );
});
