import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { kubePrograms } from '../../../tools/kube/index.ts';
import { CertificateAuthority, type KeyPair } from '../../cluster/certificates.ts';
import { currentMinor, withOwnClusters } from '../../cluster/index.ts';
import { filesOf, leaks, random } from '../../e2e/leaks.ts';
import { until } from '../../haproxy/until.ts';
import { configObject, libraryObject } from '../e2e/installation.ts';
import { ingress, ingressClass, service } from '../e2e/objects.ts';
import { World, type Controller } from '../e2e/world.ts';
import { controllerRules } from '../rbac/controller-rules.ts';
import { tlsRules } from '../scale/tls-library.ts';

const SLOW = 240_000;
const patience = { deadlineMs: 90_000 };

/** A certificate, a token in a map, a PEM in a file, a password in a section: and one of each way in which it is refused. */
const TEMPLATE = `
{% for secret in resources.secrets.list() %}
{% set name = secret.metadata.name %}
{% if secret.type === "kubernetes.io/tls" %}
{% cert name, secret %}
{% crt "main", name %}
{% endif %}
{% if secret.data.token %}
{% entry "tokens", name, b64decode(secret.data.token) %}
{% do warn(secret, "Seen", "it has a token") %}
{% endif %}
{% if secret.data.hash %}
{% section "userlist " + name, secret, {secret: true} %}
userlist {{ name }}
    user admin password {{ b64decode(secret.data.hash) | raw }}
{% endsection %}
{% endif %}
{% if secret.data.word %}
{% section "backend " + name, secret %}
backend {{ name }} from base
    description {{ b64decode(secret.data.word) | word }}
{% endsection %}
{% endif %}
{% endfor %}
`;

/** Pages of a controller that tell of its insides. */
async function pages(controller: Controller): Promise<ReadonlyMap<string, string>> {
  const portOf = (message: string): string =>
    String(controller.log().find(({ msg }) => msg === message)?.['port']);
  const debug = ['config', 'plan', 'files', 'events', 'resources', 'baselines', 'quarantine', 'gate'];
  const paths = [...debug.map((page) => `debug/${page}`), 'debug/resources?watch=secrets', 'readyz', 'build'];
  const urls = [
    ...paths.map((path) => `http://127.0.0.1:${portOf('answers probes')}/${path}`),
    `http://127.0.0.1:${portOf('answers Prometheus')}/metrics`,
  ];
  const texts = await Promise.all(
    urls.map(async (url) => [new URL(url).pathname, await (await fetch(url)).text()] as const),
  );
  return new Map(texts);
}

/** Of this type every Secret is watched, and it may hold more. */
function secret(name: string, { cert, key }: KeyPair, data: object = {}): object {
  const stringData = { 'tls.crt': cert, 'tls.key': key, ...data };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type: 'kubernetes.io/tls', stringData };
}

withOwnClusters((start) => {
  describe('an installation in a cluster', () => {
    test('writes nothing of a Secret anywhere but for HAProxy', { timeout: SLOW }, async () => {
      const { access } = await start();
      const { name } = await access.namespace();
      const [{ kubectl }, haproxy] = await Promise.all([kubePrograms(currentMinor), haproxyBinary('3.4')]);
      const world = await World.open(access, kubectl, name);
      const { pair } = await CertificateAuthority.create('shop');
      const secrets = {
        key: pair.key,
        token: random(),
        hash: `$5$${random()}$${random()}`,
        broken: `${random()} ${random()}`,
        word: `${random()} ${random()}`,
      };
      await world.install({}, 'all');
      const libraries = [libraryObject(name, 'base'), libraryObject(name, 'ingress')];
      const config = configObject(name, libraries, {
        settings: { listeners: { i80: { bind: `127.0.0.1:${world.port}` } } },
        publish: { content: true, interval: '1s' },
        watchedResources: { secrets: { apiVersion: 'v1', resources: 'secrets' } },
        maps: { tokens: { match: 'str', value: 'str', layer: 'leaf', secret: true } },
        templateSnippets: { 'section-secrets': { template: TEMPLATE } },
      });
      await world.apply(
        secret('tls', pair),
        secret('token', pair, { token: secrets.token }),
        secret('users', pair, { hash: secrets.hash }),
        ingressClass,
        service('app'),
        ingress('app', 'app.test', 'app'),
        config,
      );
      const pod = await world.startPod('haproxy-0', haproxy);
      const rules = controllerRules();
      const granted = { ...rules, cluster: [...rules.cluster, ...tlsRules] };
      const controller = await world.startController([pod], {
        haproxy,
        kubeconfig: await world.controllerKubeconfig(granted),
        args: ['--log-level=debug'],
        plugins: [
          { use: '@haptic/publish', options: { addresses: [{ ip: '192.0.2.44' }] } },
          { use: '@haptic/state-kube', options: {} },
        ],
      });
      await world.untilAnswers(pod, 'app.test', 503, controller);
      const events = async (): Promise<string> =>
        JSON.stringify(await access.api.json({ path: `/apis/events.k8s.io/v1/namespaces/${name}/events` }));
      // What the gate refuses is told of, too.
      await world.apply(
        secret('broken', pair, { hash: secrets.broken }),
        secret('word', pair, { word: secrets.word }),
      );
      await until(async () => {
        const text = await events();
        return ['Quarantined', 'Seen'].every((reason) => text.includes(`"${reason}"`));
      }, patience).catch((error: Error) => {
        throw new Error(`${error.message}\n${controller.stdout()}`, { cause: error });
      });

      const texts = new Map(await pages(controller));
      const group = '/apis/haproxy-haptic.org/v1alpha1';
      const collections = {
        HAProxyCfg: `${group}/namespaces/${name}/haproxycfgs`,
        configs: `${group}/namespaces/${name}/haproxytemplateconfigs`,
        ConfigMaps: `/api/v1/namespaces/${name}/configmaps`,
        Ingresses: `/apis/networking.k8s.io/v1/namespaces/${name}/ingresses`,
        Leases: `/apis/coordination.k8s.io/v1/namespaces/${name}/leases`,
      };
      for (const [what, path] of Object.entries(collections))
        texts.set(what, JSON.stringify(await access.api.json({ path })));
      texts.set('Events', await events());
      process.kill(controller.pid, 'SIGTERM');
      expect(await controller.ended).toBe(0);
      texts.set('log', controller.stdout() + controller.stderr());
      texts.set('log of the agent', pod.agent.stdout() + pod.agent.stderr());
      for (const [file, text] of await filesOf(world.at.dir)) {
        if (!file.startsWith('haproxy-0/')) texts.set(file, text);
      }

      // All of it is there to be looked at, and the secrets have gone where they should.
      expect(texts.get('HAProxyCfg')).toContain('"content"');
      expect(texts.get('ConfigMaps')).toContain('"quarantine"');
      expect(texts.get('Ingresses')).toContain('192.0.2.44');
      const served = new Map([...(await filesOf(world.at.dir))].filter(([file]) => file.includes('/trees/')));
      for (const one of ['key', 'token', 'hash'] as const)
        expect(leaks(served, { [one]: secrets[one] }), one).not.toEqual([]);
      expect(leaks(texts, secrets)).toEqual([]);
    });
  });
});
