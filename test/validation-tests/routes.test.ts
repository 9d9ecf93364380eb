import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { Cancelled } from '@haptic/core/contract';
import type { TestReport } from '@haptic/core/validation-tests';
import { runTests, type TestSetup } from '../../core/src/testing/validation-test-rig.ts';
import { HaproxyProbe } from '../../plugins/validator-haproxy/src/probe/haproxy-probe.ts';
import { WorkFolder } from '../../plugins/validator-haproxy/src/work-folder.ts';
import { CertificateAuthority } from '../cluster/certificates.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { freePort } from '../haproxy/free-port.ts';
import { noProcesses, processesIn } from '../haproxy/processes.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { forEachVersion, type Haproxy } from '../haproxy/versions.ts';

const { cert, key } = await (
  await CertificateAuthority.create('test')
).issue({ commonName: 'tls.test', names: ['tls.test'] });

/** What a user might write, without any of the shipped libraries: `more` stands behind it. */
function template(more = ''): string {
  return `{% section "global" %}
global
  maxconn 100
{% endsection %}
{% section "defaults" %}
defaults base
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
{% endsection %}
{% profiles %}
{% section "frontend web" %}
frontend web from base
{% bind settings.plain %}
  bind {{ settings.plain }} name plain
{% bind settings.secure %}
  bind {{ settings.secure }} ssl crt {{ path("certificate", "site") }} alpn h2,http/1.1
  http-request deny status 403 if { hdr(x-evil) -m found }
  http-request reject if { path /reject }
  http-request redirect prefix https://other.test code 301 if { path_beg /moved }
  use_backend tls if { ssl_fc_sni tls.test }
  use_backend post if METH_POST
  use_backend two if { req.hdr(host) two.test }
  use_backend far if { path /far }
  use_backend gone if { path /gone }
  default_backend one
{% endsection %}
{% for name in ["one", "two", "post", "tls"] %}
{% backend {name, from: "base", servers: [{name: "s", address: "192.0.2.1", port: 80, keywords: ["check", "inter", "100", "ssl", "verify", "none"]}]} %}
{% endbackend %}
{% endfor %}
{% section "far away" %}
backend far from base
  server s 192.0.2.2:80
backend gone from base
  http-request return status 410
{% endsection %}
${more}`;
}

const spec = {
  haproxyConfig: { template: template() },
  maps: {},
  sslCertificates: { site: { template: `${cert}\n${key}\n` } },
  settings: { plain: ':80', secure: ':443' },
};

interface Ran {
  readonly report: TestReport;
  /** Where everything temporary was. */
  readonly dir: string;
}

async function run(haproxy: Haproxy, setup: TestSetup): Promise<Ran> {
  const dir = await tempDir();
  const probe = new HaproxyProbe({ binary: haproxy.binary, maxOutput: 65_536 }, new WorkFolder(dir));
  onCleanup(() => probe.dispose());
  const version = `${haproxy.minor}.0`;
  const judge = { version: () => Promise.resolve(version), probe };
  try {
    return { dir, report: await runTests({ version, judge, ...setup, spec: { ...spec, ...setup.spec } }) };
  } finally {
    await probe.dispose();
    await noProcesses(dir);
    expect(await readdir(dir)).toEqual([]);
  }
}

type Row = readonly [request: object, expect: object, failure?: string];

/** What each of these claims comes to, all of one test. */
async function complaints(haproxy: Haproxy, rows: readonly Row[], more: object = {}): Promise<unknown[]> {
  const assertions = rows.map(([request, wanted]) => ({ type: 'routes', request, expect: wanted }));
  const { report } = await run(haproxy, { tests: { t: { assertions } }, ...more });
  expect(report.tests[0]!.reason).toBeUndefined();
  return report.tests[0]!.assertions.map(({ failure, unjudged }) => failure ?? unjudged);
}

const rows: readonly Row[] = [
  [{ path: '/' }, { backend: 'one', status: 200 }],
  [{ host: 'two.test', path: '/' }, { backend: 'two' }],
  [{ host: 'two.test', path: '/', method: 'POST' }, { backend: 'post' }],
  [
    { path: '/', method: 'HEAD' },
    { backend: 'one', status: 200 },
  ],
  [{ path: '/', headers: { 'X-Evil': 'y' } }, { status: 403 }],
  [{ path: '/moved/x?y' }, { redirect: 'https://other.test/moved/x?y', status: 301 }],
  [{ path: '/gone' }, { backend: 'gone', status: 410 }],
  [{ path: '/far' }, { backend: 'far', status: 503 }],
  [
    { host: 'tls.test', path: '/', tls: true },
    { backend: 'tls', status: 200 },
  ],
  [{ host: 'x.test', path: '/', tls: { sni: 'tls.test' } }, { backend: 'tls' }],
  [{ host: 'tls.test', path: '/', tls: { sni: 'x.test' } }, { backend: 'one' }],
  [{ host: 'tls.test', path: '/', bind: ':443', tls: true }, { backend: 'tls' }],
  [
    { host: 'a.test', path: '/' },
    { backend: 'two', status: 418 },
    'GET http://a.test/: backend one answered 200; expected backend two and status 418',
  ],
  [
    { path: '/moved' },
    { redirect: 'https://other.test/' },
    'GET http:///moved: no backend answered 301, Location: https://other.test/moved; expected Location: https://other.test/',
  ],
  [
    { path: '/' },
    { backend: 'onne' },
    'GET http:///: backend one answered 200; expected backend onne, which does not exist, did you mean "one"?',
  ],
  [
    { path: '/reject' },
    { status: 200 },
    'GET http:///reject: there was no answer, and no backend took it; expected status 200',
  ],
  [{ path: '/', bind: ':8080' }, { backend: 'one' }, 'HAProxy does not listen on ":8080" but on :443, :80'],
];

forEachVersion((haproxy) => {
  test('a HAProxy answers who would serve a request', async () => {
    const found = await complaints(haproxy, rows);
    expect(found.map((failure, index) => [rows[index]![0], failure])).toEqual(
      rows.map(([request, , failure]) => [request, failure]),
    );
  });

  test('addresses that others have are free to be rendered, and nobody is asked which one is meant', async () => {
    const holder = createServer();
    holder.listen({ port: 0, host: '127.0.0.1' });
    await once(holder, 'listening');
    onCleanup(() => void holder.close());
    const taken = `127.0.0.1:${(holder.address() as { port: number }).port}`;
    const settings = { plain: taken, secure: '127.0.0.1:9' };
    const request = { path: '/' };
    expect(
      await complaints(
        haproxy,
        [
          [{ ...request, bind: taken }, { backend: 'one' }],
          [request, { backend: 'one' }],
        ],
        { spec: { settings } },
      ),
    ).toEqual([
      undefined,
      `HAProxy listens on ${taken}, 127.0.0.1:9, and none of them ends with ":80": say which with "bind"`,
    ]);
  });

  test('what cannot be moved elsewhere is not judged', async () => {
    const literal = template().replaceAll('settings.plain', '":80"');
    const found = await complaints(haproxy, [rows[0]!], { spec: { haproxyConfig: { template: literal } } });
    expect(found).toEqual([expect.stringMatching(/^no setting is ":80": /)]);
  });

  test('an address that no template declares is found', async () => {
    const undeclared = `{% section "more" %}
frontend more from base
  bind 127.0.0.1:{{ settings.port | word }}
  http-request return status 200
{% endsection %}
`;
    const port = await freePort();
    const found = await complaints(haproxy, [rows[0]!], {
      spec: {
        haproxyConfig: { template: template(undeclared) },
        settings: { ...spec.settings, port },
      },
    });
    expect(found).toEqual([
      `HAProxy listens on port ${port} as well, which no {% bind %} of the templates says`,
    ]);
  });

  test('a HAProxy that does not start says why, and its test alone fails', async () => {
    const broken = template().replace('maxconn 100', 'stats socket /nonexistent/socket');
    const assertions = rows
      .slice(0, 3)
      .map(([request, wanted]) => ({ type: 'routes', request, expect: wanted }));
    const { report } = await run(haproxy, {
      spec: { haproxyConfig: { template: broken } },
      tests: { t: { assertions }, u: { assertions: [{ type: 'contains', target: 'plan', pattern: 'x' }] } },
    });
    expect(report).toMatchObject({ failed: 1, passed: 1 });
    for (const { failure } of report.tests[0]!.assertions)
      expect(failure).toMatch(/^HAProxy does not start: .*\/nonexistent\/socket/s);
  });

  test('several tests at a time keep apart', async () => {
    const tests = Object.fromEntries(
      Array.from({ length: 8 }, (_, index) => {
        const backend = index % 2 === 0 ? 'one' : 'two';
        const request = { host: `${backend}.test`, path: `/${index}` };
        return [`t${index}`, { assertions: [{ type: 'routes', request, expect: { backend } }] }];
      }),
    );
    const { report } = await run(haproxy, { tests });
    expect(report).toMatchObject({ passed: 8, failed: 0, unjudged: 0 });
  });

  test('a run that is called off leaves nothing', async () => {
    const stop = new AbortController();
    const request = { path: '/' };
    const assertions = Array.from({ length: 300 }, () => ({
      type: 'routes',
      request,
      expect: { backend: 'one' },
    }));
    const tests = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`t${index}`, { assertions }]));
    const running = run(haproxy, {
      tests,
      signal: stop.signal,
      observer: { rendered: () => setTimeout(() => stop.abort(), 60) },
    });
    await expect(running).rejects.toThrow(Cancelled);
  });

  test('a HAProxy outlives nobody who started it', async () => {
    const dir = await tempDir();
    const module = new URL('../../plugins/validator-haproxy/src/probe/haproxy-process.ts', import.meta.url);
    const script = `
      import { startProcess } from ${JSON.stringify(module.href)};
      await startProcess({ binary: '/bin/sleep', args: ['300'], maxOutput: 100 });
      console.log('started');
    `;
    const child = spawn(process.execPath, ['--conditions=source', '--input-type=module', '-e', script], {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onCleanup(() => void child.kill('SIGKILL'));
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    expect(said.toString()).toBe('started\n');
    expect(await processesIn(dir)).toHaveLength(1);
    child.kill('SIGKILL');
    await noProcesses(dir);
  });
});
