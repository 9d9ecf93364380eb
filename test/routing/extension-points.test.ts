import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'node:https';
import { expect, test } from 'vitest';
import { freePort } from '../haproxy/free-port.ts';
import { runtimeCommand } from '../haproxy/runtime-command.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { requestBytes, type Rule } from './case-table.ts';
import { ruleSource, servicesOf } from './rules.ts';
import { startSite, upstream, type Site } from './site.ts';

const root = { type: 'prefix', value: '/' } as const;
const rules: readonly Rule[] = [
  { listener: 'ingress', host: 'plain.test', path: root, backend: 'plain', order: 0 },
  { listener: 'ingress', host: 'other.test', path: root, backend: 'other', order: 1 },
  {
    listener: 'ingress',
    host: 'cond.test',
    path: root,
    conditions: { method: 'GET' },
    backend: 'cond',
    order: 2,
  },
  {
    listener: 'ingress',
    host: 'weighted.test',
    path: root,
    targets: [
      { backend: 'one', weight: 1 },
      { backend: 'two', weight: 1 },
    ],
    order: 3,
  },
  { listener: 'ingress', host: '*.wild.test', wildcard: 'one-label', path: root, backend: 'wild', order: 4 },
  { listener: 'ingress', host: 'status.test', path: root, status: 500, order: 5 },
];
const requests = {
  plain: ['plain.test', 200],
  conditional: ['cond.test', 200],
  weighted: ['weighted.test', 200],
  wildcard: ['w.wild.test', 200],
  'unmatched host': ['nobody.test', 404],
  'built-in answer': ['status.test', 500],
} as const;

const denies = {
  'frontend-before-deny': {
    template: 'http-request deny status 429 if { req.hdr(x-deny) -m str frontend }\n',
  },
  'profile-deny': { template: 'http-request deny status 410 if { req.hdr(x-deny) -m str profile }\n' },
};

function statusOf(site: Site, host: string, deny: string): Promise<number> {
  const bytes = requestBytes({ method: 'GET', host, path: '/', headers: [['x-deny', deny]] });
  return site.send('i80', bytes).then(({ status }) => status);
}

interface TlsRequest {
  readonly port: number;
  readonly sni: string;
  readonly host: string;
  readonly deny?: string;
}

function overTls({ port, sni, host, deny = '' }: TlsRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', servername: sni, rejectUnauthorized: false, agent: false };
    const outgoing = request({ ...options, headers: { host, 'x-deny': deny } }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

forEachVersion((haproxy) => {
  const start = async (templateSnippets: object): Promise<Site> =>
    startSite(haproxy, {
      sources: [ruleSource(rules)],
      objects: servicesOf(rules, (await upstream()).port),
      config: { templateSnippets },
    });

  test('a rule in an extension point meets every kind of request', async () => {
    const site = await start(denies);
    for (const [kind, [host, status]] of Object.entries(requests)) {
      expect([kind, await statusOf(site, host, 'nothing')]).toEqual([kind, status]);
      expect([kind, await statusOf(site, host, 'frontend')]).toEqual([kind, 429]);
      expect([kind, await statusOf(site, host, 'profile')]).toEqual([kind, 410]);
    }
  });

  test('TLS: extension points, several hosts on one connection, and 421 where handshakes differ', async () => {
    const port = await freePort();
    const certificate = join(import.meta.dirname, '../data/self-signed.pem');
    expect(await readFile(certificate, 'utf8')).toContain('PRIVATE KEY');
    // The name up to the "-" is the port key: the same routes as on the plain listener.
    const bind = { template: `bind 127.0.0.1:${port} name i80-tls ssl crt ${certificate}\n` };
    const site = await start({ ...denies, 'frontend-bind-tls': bind });
    const same = { port, sni: 'plain.test', host: 'plain.test' };
    expect(await overTls(same)).toBe(200);
    expect(await overTls({ ...same, deny: 'frontend' })).toBe(429);
    expect(await overTls({ ...same, deny: 'profile' })).toBe(410);
    expect(await overTls({ ...same, host: 'other.test' })).toBe(200);
    expect(await overTls({ ...same, host: 'w.wild.test' })).toBe(200);
    expect(await overTls({ ...same, host: 'nobody.test' })).toBe(404);
    const socket = join(site.dir, 'worker.sock');
    await runtimeCommand(socket, 'set map maps/hosts.map i80/other.test mtls|i80/other.test');
    expect(await overTls({ ...same, host: 'other.test' })).toBe(421);
    expect(await overTls({ ...same, host: 'OTHER.test:443' })).toBe(421);
    expect(await overTls({ ...same, sni: 'other.test', host: 'other.test' })).toBe(200);
    expect(await overTls(same)).toBe(200);
  });
});
