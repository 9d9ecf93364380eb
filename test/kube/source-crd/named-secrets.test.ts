import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster, type ClusterAccess } from '../../cluster/index.ts';
import { CertificateAuthority } from '../../cluster/certificates.ts';
import { leaks, random } from '../../e2e/leaks.ts';
import { freePort } from '../../haproxy/free-port.ts';
import { request } from '../../haproxy/raw-request.ts';
import { until } from '../../haproxy/until.ts';
import { judgedWatch, WebhookPlace } from '../admission/webhook.ts';
import { configObject, libraryObjects } from '../e2e/installation.ts';
import { ingress, ingressClass, service } from '../e2e/objects.ts';
import { World } from '../e2e/world.ts';
import { controllerRules } from '../rbac/controller-rules.ts';
import { Recorder } from './recorder.ts';

const ANNOTATION = 'test.example/secret';
const plugin = {
  use: fileURLToPath(new URL('plugins/named-secrets.mjs', import.meta.url)),
  options: { annotation: ANNOTATION },
};

/** What every Secret says that there is, at its name. Validation tests of the libraries know nothing of it. */
const TEMPLATE = `
{% if resources.secrets.list().length > 0 %}
{% section "frontend named", [], {secret: true} %}
frontend named from base
    bind {{ settings.namedBind }}
{% for secret in resources.secrets.list() %}
{% if secret.data.token %}
    http-request return status {{ b64decode(secret.data.status) | raw }} content-type text/plain string {{ b64decode(secret.data.token) | word }} if { path {{ "/" + secret.metadata.name }} }
{% endif %}
{% endfor %}
    http-request deny deny_status 404
{% endsection %}
{% endif %}
`;

const WATCH = { apiVersion: 'v1', resources: 'secrets', admission: true };
const NEVER = 'type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token';

function secret(name: string, token: string, more: object = {}): object {
  const stringData = { token, status: '200' };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type: 'Opaque', stringData, ...more };
}

function naming(name: string, secretName?: string): object {
  const object = ingress(name, `${name}.test`, 'app') as { readonly metadata: object };
  const annotations = secretName === undefined ? {} : { [ANNOTATION]: secretName };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

interface Scene extends AsyncDisposable {
  readonly world: World;
  readonly recorder: Recorder;
  readonly webhook: WebhookPlace;
  readonly cluster: ClusterAccess;
  /** What is answered at the name of a Secret. */
  readonly says: (name: string) => Promise<string | number>;
  readonly untilSays: (name: string, wanted: string | number) => Promise<unknown>;
}

forEachCluster(
  (cluster, programs) => {
    /** A controller with the chart's rights, those that its operator gives it for Secrets, and the operator's plugin. */
    async function open(...objects: readonly object[]): Promise<Scene> {
      const namespace = await cluster().namespace();
      const haproxy = await haproxyBinary('3.4');
      const world = await World.open(cluster(), programs.kubectl, namespace.name);
      const webhook = await WebhookPlace.open(world.at.dir);
      const port = await freePort();
      await world.install();
      const libraries = libraryObjects(namespace.name);
      const config = configObject(namespace.name, libraries, {
        settings: {
          listeners: { i80: { bind: `127.0.0.1:${world.port}` } },
          namedBind: `127.0.0.1:${port}`,
        },
        watchedResources: { secrets: { ...WATCH, namespaces: [namespace.name] } },
        templateSnippets: { 'section-named': { template: TEMPLATE } },
      });
      await world.apply(ingressClass, service('app'), ...objects, config);
      const rules = controllerRules();
      const granted = [{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] }];
      const file = await world.controllerKubeconfig({
        ...rules,
        namespace: [...rules.namespace, ...granted],
      });
      const { recorder, kubeconfig } = await Recorder.of(
        await readFile(file, 'utf8'),
        cluster().address.ca.cert,
      );
      await writeFile(file, kubeconfig);
      const pod = await world.startPod('haproxy-0', haproxy);
      const options = { host: '127.0.0.1', port: webhook.port, tls: webhook.tls };
      const admission = { use: '@haptic/admission', enabled: true, options };
      const controller = await world.startController([pod], {
        haproxy,
        kubeconfig: file,
        plugins: [plugin, admission],
      });
      await controller.untilLogged('a pod took a plan');
      const says = async (name: string): Promise<string | number> => {
        const { status, body } = await request(port, { host: 'named', path: `/${name}` });
        return status === 200 ? body.toString() : status;
      };
      const untilSays = (name: string, wanted: string | number): Promise<unknown> =>
        until(
          async () => {
            const said = await says(name);
            if (said !== wanted) throw new Error(`it says ${said}\n${controller.stdout()}`);
            return true;
          },
          { deadlineMs: 60_000, what: `${name} says ${wanted}` },
        );
      return {
        world,
        recorder,
        webhook,
        cluster: cluster(),
        says,
        untilSays,
        [Symbol.asyncDispose]: () => namespace[Symbol.asyncDispose](),
      };
    }

    describe('Secrets that objects name', () => {
      test('arrive, change and go, and no others are asked for', { timeout: 240_000 }, async () => {
        const canaries = { nobodys: random(), helm: random(), later: random() };
        const { pair } = await CertificateAuthority.create('shop');
        const tls = { type: 'kubernetes.io/tls', stringData: { 'tls.crt': pair.cert, 'tls.key': pair.key } };
        await using scene = await open(
          secret('named', 'first'),
          secret('nobodys', canaries.nobodys),
          secret('cert', '', tls),
          secret('release', canaries.helm, { type: 'helm.sh/release.v1' }),
          naming('web', 'named'),
          naming('shop', 'cert'),
        );
        const { world, recorder, untilSays } = scene;
        await untilSays('named', 'first');
        await world.apply(secret('named', 'second'));
        await untilSays('named', 'second');
        await world.kubectlRun(['delete', 'secret', 'named']);
        await untilSays('named', 404);
        await world.apply(secret('named', 'third'));
        await untilSays('named', 'third');
        expect(await scene.says('nobodys')).toBe(404);

        // One that was there before anybody named it, one that is not there yet, and one that nobody names any more.
        await world.apply(secret('other', 'other'), naming('shop', 'other'));
        await untilSays('other', 'other');
        await world.apply(naming('web', 'not-yet'));
        await untilSays('named', 404);
        await world.apply(secret('not-yet', 'there'));
        await untilSays('not-yet', 'there');
        await world.apply(secret('named', canaries.later));
        await world.apply(secret('not-yet', 'changed'));
        await untilSays('not-yet', 'changed');

        const place = `/api/v1/namespaces/${world.namespace}/secrets`;
        const byName = (name: string): string =>
          `${place}?metadata.name=${name},type!=kubernetes.io/tls,${NEVER}`;
        expect(recorder.lists('secrets')).toEqual([
          `${place}?type=kubernetes.io/tls,${NEVER}`,
          ...['named', 'other', 'not-yet'].map(byName),
        ]);
        expect(recorder.exchanges.filter(({ path }) => path.startsWith(`${place}/`))).toEqual([]);
        const answers = new Map([['answers of the API server', recorder.text]]);
        expect(leaks(answers, { second: 'second', key: pair.key })).not.toEqual([]);
        expect(leaks(answers, canaries)).toEqual([]);
      });

      test('are judged before they change, and no others', { timeout: 240_000 }, async () => {
        const broken = { stringData: { token: 'x', status: 'none' } };
        await using scene = await open(secret('named', 'first'), naming('web', 'named'));
        const { world, webhook, untilSays } = scene;
        await untilSays('named', 'first');
        const { admission: _admission, apiVersion, ...watch } = WATCH;
        const judged = { ...watch, apiVersions: [apiVersion], namespaces: [world.namespace] };
        await webhook.register(scene.cluster, `haptic-${world.namespace}`, { secrets: judgedWatch(judged) });
        const answerTo = (object: object): Promise<string> =>
          world.apply(object).then(
            () => 'admitted',
            (error: Error & { readonly stderr?: string }) => error.stderr ?? error.message,
          );
        await until(
          async () => (await answerTo(secret('named', '', broken))).includes('denied the request'),
          {
            deadlineMs: 60_000,
            what: 'a Secret that somebody names is judged',
          },
        );
        expect(await answerTo(secret('nobodys', '', broken))).toBe('admitted');
        expect(await answerTo(secret('named', 'second'))).toBe('admitted');
        await untilSays('named', 'second');
      });
    });
  },
  ['1.37'],
);
