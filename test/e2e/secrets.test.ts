import { stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SECRET_WORDS } from '@haptic/core/contract';
import { CertificateAuthority } from '../cluster/certificates.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { answer as verdict, frame, startValidator } from '../validators/test-validator.ts';
import { up, type LogLine, type Up } from './haptic-process.ts';
import { filesOf, leaks, random } from './leaks.ts';
import { ingress } from './objects.ts';
import { answer, site } from './site.ts';

const soon = { deadlineMs: 30_000 };

/** What an author of a library with user lists, tokens and certificates would write, mistakes included. */
function library({ validator, occupied }: { validator: string; occupied: number }, broken = ''): string {
  return `apiVersion: haproxy-haptic.org/v1alpha1
kind: HAProxyTemplateConfig
metadata: { name: mine }
spec:
  watchedResources:
    secrets: { apiVersion: v1, resources: secrets }
  validators:
    - { name: policy, socketPath: ${validator}, files: [haproxy.cfg, maps/tokens.map] }
  maps:
    tokens: { match: str, value: str, layer: leaf, secret: true }
  templateSnippets:
    section-users:
      template: |
        {% for secret in resources.secrets.list() %}
        {% set name = secret.metadata.name %}
        {% if secret.type === "kubernetes.io/tls" %}
        {% cert name, secret %}
        {% crt "main", name %}
        {% endif %}
        {% if secret.data.hash %}
        {% section "userlist " + name, secret, {secret: true} %}
        userlist {{ name }}
            user admin password {{ b64decode(secret.data.hash) | raw }}${broken}
        {% endsection %}
        {% endif %}
        {% if secret.data.token %}
        {% entry "tokens", name, b64decode(secret.data.token) %}
        {% endif %}
        {% if secret.data.word %}
        {% section "backend " + name, secret %}
        backend {{ name }} from base
            description {{ b64decode(secret.data.word) | word }}
        {% endsection %}
        {% endif %}
        {% if secret.data.url %}
        {% section "backend " + name, secret %}
        backend {{ name }} from base
            description {{ http.fetch("https://user:" + b64decode(secret.data.url) + "@lists.example/") ?? "" }}
        {% endsection %}
        {% endif %}
        {% if secret.data.query %}
        {% set fetched = http.fetch("https://lists.example/?token=" + b64decode(secret.data.query), {default: "x"}) %}
        {% do warn(secret, "Fetched", "it is there") %}
        {% endif %}
        {% if secret.data.refusedByPods %}
        {% section "frontend " + name, secret, {secret: true} %}
        frontend {{ name }} from base
            bind 127.0.0.1:${occupied}
            http-request set-header x-token {{ b64decode(secret.data.refusedByPods) }}
        {% endsection %}
        {% endif %}
        {% endfor %}
`;
}

function secret(name: string, type: string, data: Readonly<Record<string, string>>): string {
  const lines = Object.entries(data).map(([key, value]) => `  ${key}: ${btoa(value)}\n`);
  return `apiVersion: v1\nkind: Secret\nmetadata: { name: ${name}, namespace: default }\ntype: ${type}\ndata:\n${lines.join('')}`;
}

/** Refuses lines with this word, and quotes them. */
function quotingValidator(word: string) {
  return startValidator({
    asked: (socket, { files }) => {
      const found = files.flatMap(({ path, content }) =>
        content
          .split('\n')
          .flatMap((line, index) =>
            line.includes(word) ? { path, line: index + 1, column: 1, message: `must not say: ${line}` } : [],
          ),
      );
      socket.write(frame(verdict(found)));
    },
  });
}

/** A port that HAProxy cannot have, which its check does not notice. */
async function occupiedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onCleanup(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** The names of what is held. */
function held(run: Up): readonly string[] {
  return run
    .events()
    .filter(({ event }) => event === 'held')
    .map(({ object }) => (object as { readonly name: string }).name);
}

function logged(run: Up, message: string): readonly LogLine[] {
  return run.log().filter(({ msg }) => msg === message);
}

/** Waits for something that it logs or reports. */
async function sees(run: Up, condition: () => boolean): Promise<void> {
  await until(condition, soon).catch((error: Error) => {
    throw new Error(`${error.message}\n${run.stdout()}\n${run.stderr()}`, { cause: error });
  });
}

const DEBUG = ['config', 'plan', 'files', 'events', 'resources', 'baselines', 'quarantine', 'gate'];

/** Every page that the controller answers, by its name. */
async function pages(run: Up): Promise<ReadonlyMap<string, string>> {
  const [probes] = logged(run, 'answers probes');
  const [prometheus] = logged(run, 'answers Prometheus');
  const paths = ['readyz', 'livez', 'build', ...DEBUG.map((page) => `debug/${page}`)];
  const secrets = ['debug/resources?watch=secrets', 'debug/resources?watch=ingresses'];
  const urls = [
    ...[...paths, ...secrets].map((path) => `http://127.0.0.1:${String(probes!['port'])}/${path}`),
    `http://127.0.0.1:${String(prometheus!['port'])}/metrics`,
  ];
  const texts = await Promise.all(
    urls.map(async (url) => [url.replace(/^http:..[^/]+/, ''), await (await fetch(url)).text()] as const),
  );
  return new Map(texts);
}

/** What HAProxy is to read, and the plans from which it was made, for the agent's eyes only. */
const FOR_HAPROXY = /^base\/(?:trees\/|blobs\/|plans\.log$)/;

interface Stage {
  readonly run: Up;
  readonly secrets: Readonly<Record<string, string>>;
  /** Of the run, kept over its end. */
  readonly kept: string;
  readonly configure: (broken: string) => Promise<void>;
  readonly put: (name: string, data: Readonly<Record<string, string>>, type?: string) => Promise<void>;
}

/** A run that serves with good Secrets, its gate open. */
async function stage(haproxy: string, secrets: Readonly<Record<string, string>>): Promise<Stage> {
  const [own, config, kept] = [await site(), await tempDir(), await tempDir()];
  const { pair } = await CertificateAuthority.create('shop');
  const validator = await quotingValidator(secrets['forbidden']!);
  const surroundings = { validator: validator.socketPath, occupied: await occupiedPort() };
  const configure = (broken: string): Promise<void> =>
    writeFile(join(config, 'config.yaml'), library(surroundings, broken));
  const put: Stage['put'] = (name, data, type = 'Opaque') =>
    own.write(`secret-${name}.yaml`, secret(name, type, data));
  await configure('');
  await put('tls', { 'tls.crt': pair.cert, 'tls.key': pair.key }, 'kubernetes.io/tls');
  await put('users', { hash: secrets['hash']!, token: secrets['token']! });
  const host = join(await tempDir(), 'haptic.config.yaml');
  const plugins = [
    { use: '@haptic/deploy-agent', options: { dir: join(kept, 'base') } },
    { use: '@haptic/http-store', options: { allowHosts: ['elsewhere.example'] } },
  ];
  await writeFile(host, JSON.stringify({ plugins }));
  const args = [`--config=${config}`, `--host-config=${host}`, '--log-level=debug'];
  const run = await up({ haproxy, resources: [own.dir], args });
  await until(async () => (await answer(run.port)) === 'app', soon);
  await own.write('more.yaml', ingress('more', 'more.example', { '/': 'app' }));
  await until(async () => (await answer(run.port, 'more.example')) === 'app', soon);
  return { run, secrets: { ...secrets, key: pair.key }, kept, configure, put };
}

/** Everybody refuses something in turn, and would quote it. */
async function provoke({ run, secrets, configure, put }: Stage): Promise<ReadonlyMap<string, string>> {
  await put('broken', { hash: `${secrets['secondHash']} ${secrets['brokenHash']}` });
  await sees(run, () => held(run).includes('broken'));
  // A pod would print it.
  expect(logged(run, 'a pod did not take a plan')).toEqual([]);
  await put('word', { word: secrets['word']! });
  await sees(run, () => held(run).includes('word'));
  await put('url', { url: secrets['url']! });
  await sees(run, () => held(run).includes('url'));
  await put('query', { query: secrets['query']! });
  await sees(run, () => logged(run, 'a content could not be fetched').length > 0);
  await put('forbidden', { hash: secrets['forbidden']!, token: secrets['forbidden']! });
  await sees(run, () => held(run).includes('forbidden'));
  await put('pods', { refusedByPods: secrets['pods']! });
  await sees(run, () => logged(run, 'a pod did not take a plan').length > 0);
  const texts = new Map(await pages(run));
  await configure(' and more');
  await sees(run, () => logged(run, 'a configuration was rejected').length > 0);
  for (const [page, text] of await pages(run)) texts.set(`${page} in the end`, text);
  return texts;
}

forEachVersion(
  ({ binary }) => {
    test('nothing of a Secret is written anywhere but for HAProxy, whatever goes wrong', async () => {
      const here = await stage(binary, {
        hash: `$5$${random()}$${random()}`,
        secondHash: random(),
        brokenHash: random(),
        token: random(),
        word: `${random()} ${random()}`,
        url: random(),
        query: random(),
        forbidden: `${random()}-forbidden`,
        pods: random(),
      });
      const { run, secrets, kept } = here;
      const texts = new Map(await provoke(here));
      process.kill(run.pid, 'SIGTERM');
      expect(await run.ended).toBe(0);
      texts.set('standard output', run.stdout());
      texts.set('standard error', run.stderr());
      for (const [file, text] of await filesOf(kept)) texts.set(file, text);
      for (const [file, text] of await filesOf(run.dir)) texts.set(`temporary ${file}`, text);

      // All of it has happened, and is told.
      const reasons = run.events().flatMap(({ event, reason }) => (event === 'held' ? String(reason) : []));
      expect(reasons).toEqual([
        'a secret part of the configuration that is made of it is refused',
        expect.stringContaining('is "[secret]", expected a word'),
        expect.stringContaining('without user and password'),
        'a secret part of the configuration that is made of it is refused',
      ]);
      expect(JSON.stringify(logged(run, 'a configuration was rejected'))).toContain(SECRET_WORDS);
      // What is for HAProxy has them, so they would be found elsewhere, and nobody else can read it.
      const [forHaproxy, others] = [new Map<string, string>(), new Map<string, string>()];
      for (const [name, text] of texts) (FOR_HAPROXY.test(name) ? forHaproxy : others).set(name, text);
      expect(leaks(forHaproxy, { hash: secrets['hash']! })).not.toEqual([]);
      for (const name of forHaproxy.keys()) expect((await stat(join(kept, name))).mode & 0o077).toBe(0);
      expect([...others.keys()]).toEqual(
        expect.arrayContaining(['/metrics', '/debug/plan', '/readyz', 'base/controller/quarantine']),
      );
      expect(leaks(others, secrets)).toEqual([]);
    }, 240_000);
  },
  ['3.4'],
);
