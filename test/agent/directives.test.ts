import { expect, test } from 'vitest';
import { Refused, type Rendered } from '@haptic/core/contract';
import { sha256 } from '@haptic/core/controller';
import { assemble, PlanMemo } from '../../core/src/plan/index.ts';
import { renderTemplates, templateConfig, type TemplateSet } from '../../core/src/testing/templates.ts';
import { origin } from '../haproxy/origin.ts';
import { request, type SimpleRequest } from '../haproxy/raw-request.ts';
import { runtimeCommand } from '../haproxy/runtime-command.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { Deployer } from './deployer.ts';
import { DYNAMIC, STATIC, type DirectiveRow } from './directives.ts';
import { Pod } from './pod.ts';

const page = 'HTTP/1.0 503 Service Unavailable\r\ncontent-type: text/plain\r\n\r\nour page\n';

/** Backends by name, as somebody writes them in a template. */
type Backends = Readonly<Record<string, DirectiveRow>>;

function templates(pod: Pod, port: number, backends: Backends, base = ''): TemplateSet {
  const blocks = Object.entries(backends).map(([name, { body, servers }]) => {
    const list = servers === 'none' ? '[]' : `[{name: "s", address: "127.0.0.1", port: ${port}}]`;
    return `{% entry "hosts", "${name}.test", "${name}" %}
{% backend {name: "${name}", from: "base", servers: ${list}} %}
${body}
{% endbackend %}`;
  });
  const main = `{% section "global" %}
global
    default-path config
    stats socket ${pod.workerSocket} mode 600 level admin
    hard-stop-after 5s
http-errors pages
    errorfile 503 {{ path("file", "page.http") }}
cache store
    total-max-size 1
    max-age 60
{% endsection %}
{% section "base" %}
defaults base
    mode http
    timeout connect 2s
    timeout client 10s
    timeout server 10s
${base}
{% endsection %}
{% profiles %}
{% section "http" %}
frontend http from base
    bind 127.0.0.1:${pod.port}
    use_backend %[req.hdr(host),field(1,:),lower,map_str({{ path("map", "hosts") }})]
backend counters from base
    stick-table type ip size 1k store http_req_rate(10s)
{% endsection %}
${blocks.join('\n')}
`;
  return { main, files: { 'page.http': page }, maps: { hosts: { match: 'str', layer: 'host' } } };
}

/** The real way: templates, what they declare, the plan. */
class Templates {
  readonly #memo = new PlanMemo(sha256);
  readonly #pod: Pod;
  readonly #port: number;

  constructor(pod: Pod, port: number) {
    this.#pod = pod;
    this.#port = port;
  }

  async render(backends: Backends, base?: string): Promise<Rendered> {
    const set = templates(this.#pod, this.#port, backends, base);
    return assemble(await renderTemplates(set), templateConfig(set), this.#memo);
  }
}

const named = (prefix: string, rows: readonly DirectiveRow[]): Backends =>
  Object.fromEntries(rows.map((row, index) => [`${prefix}${index}`, row]));

async function expectServed(pod: Pod, backends: Backends): Promise<void> {
  for (const [name, { body, status = 200 }] of Object.entries(backends)) {
    if (status === 'not asked') continue;
    // Twice: what is stored is used.
    for (let count = 0; count < 2; count += 1) {
      const answer = request(pod.port, { host: `${name}.test` }).catch((error: Error) => error.message);
      expect(await answer, body).toMatchObject({ status });
    }
  }
}

forEachVersion(({ binary, minor }) => {
  async function start(): Promise<{ pod: Pod; site: Templates; deployer: Deployer }> {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent();
    const { port } = await origin('it', { headers: { 'content-type': 'text/plain' } });
    return { pod, site: new Templates(pod, port), deployer: new Deployer(pod) };
  }
  const ask = async (pod: Pod, options: SimpleRequest) => await request(pod.port, options);

  test('directives that a runtime backend does not survive or obey come with a reload, and do their work', async () => {
    const { pod, site, deployer } = await start();
    const one = named('a', STATIC);
    await deployer.bring(await site.render(one));
    // The same bodies are loaded now, but no other backend may share them.
    const both = { ...one, ...named('b', STATIC) };
    for (const [name, row] of Object.entries(named('b', STATIC))) {
      const plan = await deployer.plan(await site.render({ ...one, [name]: row }));
      expect([plan.mode, plan.ops], row.body).toEqual(['reload', []]);
      expect(plan.reasons, row.body).toContain(`backend_added:${name}`);
    }
    const added = await deployer.bring(await site.render(both));
    expect([added.plan.ops, added.reply.body.outcome, added.reply.body.message]).toEqual([
      [],
      'reload',
      undefined,
    ]);
    const { worker } = await pod.state();
    await expectServed(pod, both);

    const find = (body: string): string => `b${STATIC.findIndex((row) => row.body.startsWith(body))}`;
    const headers = { 'accept-encoding': 'gzip' };
    const packed = await ask(pod, { host: `${find('compression')}.test`, headers });
    expect(packed.header('content-encoding')).toBe('gzip');
    expect((await ask(pod, { host: `${find('errorfiles')}.test` })).body.toString()).toBe('our page\n');
    const stat = await runtimeCommand(pod.workerSocket, `show stat ${find('default-server')} 4 -1`);
    expect(stat.split('\n')[1]?.split(',')[36], stat).not.toBe('');

    expect((await pod.state()).worker).toEqual(worker);
    // Nor do they go without.
    const { plan } = await deployer.bring(await site.render(one));
    expect([plan.mode, plan.ops]).toEqual(['reload', []]);
  });

  test('what a runtime backend inherits needs no reload, and is obeyed', async () => {
    const { pod, site, deployer } = await start();
    const one = named('a', DYNAMIC);
    expect((await deployer.bring(await site.render(one))).reply.body.message).toBeUndefined();
    const { worker } = await pod.state();
    const both = { ...one, ...named('b', DYNAMIC) };
    const { plan, reply } = await deployer.bring(await site.render(both));
    const outcome = minor === '3.4' ? 'runtime' : 'reload';
    expect([reply.body.outcome, reply.body.message], plan.reasons.join()).toEqual([outcome, undefined]);
    await expectServed(pod, both);
    const back = await deployer.bring(await site.render(one));
    expect([back.reply.body.outcome, back.reply.body.message]).toEqual([outcome, undefined]);
    if (minor !== '3.4') return;
    await until(async () => (await pod.state()).pendingDeletes.length === 0);
    expect((await pod.state()).worker).toEqual(worker);
    const left = await runtimeCommand(pod.workerSocket, 'show backend');
    expect(left.split('\n').filter((name) => /^b\d/.test(name))).toEqual([]);
  });

  test('what would harm is seen in what backends inherit as well', async () => {
    const { pod, site, deployer } = await start();
    const plain: DirectiveRow = { body: 'balance roundrobin' };
    for (const base of ['errorfiles pages', 'default-server check inter 1h']) {
      await deployer.bring(await site.render({ a: plain }, `    ${base}`));
      const { plan, reply } = await deployer.bring(await site.render({ a: plain, b: plain }, `    ${base}`));
      expect([plan.mode, plan.ops, reply.body.outcome], base).toEqual(['reload', [], 'reload']);
      await expectServed(pod, { a: plain, b: plain });
    }
    // On every version a request kills the worker, in whatever inherits it.
    const refused = site.render({ a: plain }, '    http-request cache-use store');
    await expect(refused).rejects.toThrow(Refused);
    await expect(refused).rejects.toThrow(/must not hold "http-request cache-use"/);
  });
});
