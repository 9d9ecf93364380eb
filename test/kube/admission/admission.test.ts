import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { root } from '../../e2e/haptic-process.ts';
import { until } from '../../haproxy/until.ts';
import { ingress as ingressOf, ingressClass } from '../e2e/objects.ts';
import { World } from '../e2e/world.ts';
import { servedSerial } from './asked.ts';
import { judgedWatch, WebhookPlace } from './webhook.ts';

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
        const webhook = await WebhookPlace.open(world.at.dir);
        await world.install();
        await world.apply(ingressClass);
        const pod = await world.startPod('haproxy-0', haproxy);
        const admission = {
          use: '@haptic/admission',
          enabled: true,
          options: { host: '127.0.0.1', port: webhook.port, tls: webhook.tls },
        };
        const controller = await world.startController([pod], { haproxy, plugins: [judge, admission] });
        await controller.untilLogged('a pod took a plan');

        await webhook.register(cluster(), `haptic-${namespace.name}`, {
          ingresses: judgedWatch({ namespaces: [namespace.name] }),
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
        const former = await servedSerial(webhook);
        await webhook.certify();
        await until(async () => (await servedSerial(webhook)) !== former, { deadlineMs: 60_000 });
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
