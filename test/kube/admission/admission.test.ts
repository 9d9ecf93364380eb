import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { webhookConfiguration } from '@haptic/admission';
import type { WatchContent } from '@haptic/core/contract';
import { createObject, deleteObject } from '@haptic/kube';
import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { CertificateAuthority } from '../../cluster/certificates.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { root } from '../../e2e/haptic-process.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { freePort } from '../../haproxy/free-port.ts';
import { until } from '../../haproxy/until.ts';
import { ingress as ingressOf, ingressClass } from '../e2e/objects.ts';
import { World } from '../e2e/world.ts';

const configurations = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  resource: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
};

const watch: WatchContent = {
  apiVersions: ['networking.k8s.io/v1'],
  resources: 'ingresses',
  optional: false,
  indexBy: [],
  namespaces: [],
  ignoreFields: [],
  admission: true,
  debounce: 0,
};

/** Held by an operator's own judge, which allows no wildcard hosts. */
const judge = {
  use: join(root, 'examples/plugins/no-wildcard-hosts.mjs'),
  options: { allow: ['*.shop.test'] },
};

const ingress = (name: string, host: string, spec: object = {}): object => ingressOf(name, host, 'app', spec);

forEachCluster(
  (cluster, programs) => {
    describe('the webhook', () => {
      test('judges what is about to change, and nothing that is not ours', { timeout: 240_000 }, async () => {
        await using namespace = await cluster().namespace();
        const haproxy = await haproxyBinary('3.4');
        const world = await World.open(cluster(), programs.kubectl, namespace.name);
        const authority = await CertificateAuthority.create('webhook');
        const port = await freePort();
        const tls = { cert: join(world.at.dir, 'tls.crt'), key: join(world.at.dir, 'tls.key') };
        const certify = async (): Promise<void> => {
          const pair = await authority.issue({ commonName: 'webhook', ips: ['127.0.0.1'] });
          for (const part of ['cert', 'key'] as const) {
            await writeFile(`${tls[part]}.new`, pair[part]);
            await rename(`${tls[part]}.new`, tls[part]);
          }
        };
        await certify();
        await world.install();
        await world.apply(ingressClass);
        const pod = await world.startPod('haproxy-0', haproxy);
        const admission = {
          use: '@haptic/admission',
          enabled: true,
          options: { host: '127.0.0.1', port, tls },
        };
        const controller = await world.startController([pod], { haproxy, plugins: [judge, admission] });
        await controller.untilLogged('a pod took a plan');

        const configuration = webhookConfiguration(
          {
            name: `haptic-${namespace.name}`,
            clientConfig: {
              url: `https://127.0.0.1:${port}/validate`,
              caBundle: Buffer.from(authority.pair.cert).toString('base64'),
            },
            ingressClasses: ['haptic'],
          },
          { ingresses: watch },
        ) as { metadata: { name: string }; webhooks: object[] };
        const own = { matchLabels: { 'kubernetes.io/metadata.name': namespace.name } };
        const webhooks = configuration.webhooks.map((webhook) => ({ ...webhook, namespaceSelector: own }));
        await createObject(cluster().api, configurations, { ...configuration, webhooks });
        const key = { resource: configurations, name: configuration.metadata.name };
        onCleanup(async () => {
          await deleteObject(cluster().api, key);
        });

        const said = (error: Error & { readonly stderr?: string }): string => error.stderr ?? error.message;
        const refusal = (object: object): Promise<string> => world.apply(object).then(() => 'admitted', said);

        // API servers take a moment to follow a new webhook.
        await until(async () => (await refusal(ingress('probe', '*.example.org'))) !== 'admitted', {
          deadlineMs: 60_000,
        });
        expect(await refusal(ingress('bad', '*.example.org'))).toMatch(
          /admission webhook "ingresses\.admission\.haproxy-haptic\.org" denied the request: .*no-wildcard-hosts.*the host \*\.example\.org is not allowed/s,
        );
        expect(await refusal(ingress('good', 'good.example.org'))).toBe('admitted');
        expect(await refusal(ingress('good', '*.bad.example.org'))).toContain('not allowed');

        // Not ours: never judged, whether or not anybody answers.
        expect(await refusal(ingress('foreign', '*.example.org', { ingressClassName: 'other' }))).toBe(
          'admitted',
        );
        // It becomes ours: judged.
        expect(await refusal(ingress('foreign', '*.example.org'))).toContain('not allowed');
        // It goes to somebody else: no judge minds.
        expect(await refusal(ingress('good', '*.example.org', { ingressClassName: 'other' }))).toBe(
          'admitted',
        );
        await world.kubectlRun(['delete', 'ingress', 'foreign', 'good']);

        // New certificates, without a connection that fails.
        await certify();
        await controller.untilLogged(/certificate|credentials/);
        expect(await refusal(ingress('good', 'good.example.org'))).toBe('admitted');

        // Nobody there: nothing of ours is admitted, everything else is.
        process.kill(controller.pid, 'SIGTERM');
        expect(await controller.ended).toBe(0);
        expect(await refusal(ingress('late', 'late.example.org'))).toContain('failed calling webhook');
        expect(await refusal(ingress('other', 'x.example.org', { ingressClassName: 'other' }))).toBe(
          'admitted',
        );
        expect(await world.kubectlRun(['delete', 'ingress', 'good'])).toContain('deleted');
      });
    });
  },
  ['1.37'],
);
