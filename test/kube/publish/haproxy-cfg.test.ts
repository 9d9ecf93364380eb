import { getObject } from '@haptic/kube';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Piece } from '../../../core/src/templates/output.ts';
import { base, profiles, provenanceOf, section } from '../../../core/src/testing/render-output.ts';
import { forEachCluster } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { sharedDefinitions } from '../definitions.ts';
import { createConfig, startPublishing, versionOf } from './publishing.ts';
import { haproxyCfgs } from '../kinds.ts';

const patience = { deadlineMs: 30_000 };
const SECRET = 'hunter2hunter2';

interface Cfg {
  readonly spec: {
    readonly planId: string;
    readonly sections: readonly { readonly name?: string }[];
    readonly omitted: { readonly sections: number };
    readonly content?: readonly { readonly path: string; readonly text: string }[];
  };
  readonly status: {
    readonly pods: readonly object[];
    readonly conditions: readonly { readonly status: string; readonly message: string }[];
  };
}

/** With a section that is secret, a map that is, and a key. */
function secretive() {
  const users = section('users', `userlist users\n    user admin insecure-password ${SECRET}\n`);
  const hidden = { ...users, secret: true } as Piece;
  return {
    pieces: [base, profiles, hidden, section('plain', 'frontend plain from base\n    mode http\n')],
    entries: [{ map: 'keys', key: SECRET, value: 'x', provenance: provenanceOf('keys') }],
    certificates: [
      {
        name: 'tls',
        pem: `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----\n`,
        provenance: provenanceOf('tls'),
      },
    ],
  };
}

forEachCluster(
  (cluster) => {
    beforeAll(() => sharedDefinitions(cluster().api));

    const keyIn = (namespace: string) => ({ resource: haproxyCfgs, namespace, name: 'haptic' });

    const untilSays = (namespace: string, isSo: (cfg: Cfg) => boolean): Promise<Cfg> =>
      until<Cfg | false>(async () => {
        const live = (await getObject(cluster().api, keyIn(namespace))) as unknown as Cfg | undefined;
        return live?.status !== undefined && isSo(live) && live;
      }, patience);

    describe('HAProxyCfg', () => {
      test.each([false, true])('holds nothing secret, with content: %s', async (content) => {
        await using namespace = await cluster().namespace();
        const publishing = await startPublishing({
          cluster: cluster(),
          namespace: namespace.name,
          settings: { content, interval: '1s' },
        });
        publishing.accept(await createConfig(cluster().api, namespace.name));
        publishing.begin();
        const { plan } = publishing.release(secretive(), [], {
          keys: {
            match: 'str',
            value: 'str',
            layer: 'leaf',
            secret: true,
            requires: [],
            origin: { kind: 'config', source: 'main' },
          },
        });
        const cfg = await untilSays(namespace.name, ({ spec }) => spec.planId === plan.id);
        const text = JSON.stringify(cfg);
        expect(text).not.toContain(SECRET);
        const secretDigests = [
          ...plan.sections.filter(({ secret }) => secret),
          ...plan.files.filter(
            ({ secret, kind }) => secret === true || kind === 'certificate' || kind === 'config',
          ),
        ].map(({ digest }) => digest);
        expect(secretDigests.length).toBeGreaterThan(3);
        for (const digest of secretDigests) expect(text).not.toContain(digest);
        expect(cfg.spec.sections.map(({ name }) => name)).toContain('plain');
        const main = cfg.spec.content?.find(({ path }) => path === 'haproxy.cfg')?.text;
        if (content) expect(main).toMatch(/defaults base[\s\S]*# a secret core\n[\s\S]*frontend plain/);
        else expect(cfg.spec.content).toBeUndefined();
      });

      test('says how far the pods are, and is not written when nothing is new', async () => {
        await using namespace = await cluster().namespace();
        const publishing = await startPublishing({ cluster: cluster(), namespace: namespace.name });
        publishing.accept(await createConfig(cluster().api, namespace.name));
        publishing.begin();
        publishing.pods = [
          { name: 'haproxy-1', ops: [] },
          { name: 'haproxy-0', ops: [], applied: 'other' },
        ];
        const rendered = publishing.release({});
        const { plan } = rendered;
        await untilSays(namespace.name, ({ status }) => status.conditions[0]?.status === 'False');
        publishing.pods = [
          { name: 'haproxy-0', uid: 'u0', ops: [], applied: plan.id, baseline: plan },
          { name: 'haproxy-1', ops: [], applied: 'other' },
        ];
        const rejected = {
          pod: 'haproxy-1',
          result: 'rejected',
          reasons: ['core_changed:x'],
          message: `no ${'é'.repeat(900)} token=abc`,
          durationMs: 1,
        } as const;
        publishing.hooks.applied.call(plan, [rejected], { durationMs: 1, changes: [], sinceChangeMs: 1 });
        const behind = await untilSays(
          namespace.name,
          ({ status }) => status.conditions[0]?.message.startsWith('1 of 2') === true,
        );
        expect(behind.status.pods).toEqual([
          { name: 'haproxy-0', uid: 'u0', applied: plan.id, running: plan.id },
          {
            name: 'haproxy-1',
            applied: 'other',
            mode: 'rejected',
            reasons: ['core_changed:x'],
            error: expect.stringMatching(/^no é+ …$/),
          },
        ]);
        publishing.pods = publishing.pods.map((pod) => ({ ...pod, applied: plan.id }));
        publishing.hooks.applied.call(plan, [], { durationMs: 1, changes: [], sinceChangeMs: 1 });
        await untilSays(namespace.name, ({ status }) => status.conditions[0]?.status === 'True');
        const written = await versionOf(cluster().api, keyIn(namespace.name));
        publishing.end();
        publishing.begin();
        publishing.hooks.released.call(rendered, { findings: [], config: publishing.config, epoch: 2 });
        publishing.hooks.applied.call(plan, [rejected], { durationMs: 1, changes: [], sinceChangeMs: 1 });
        await untilSays(namespace.name, ({ status }) => JSON.stringify(status).includes('rejected'));
        publishing.hooks.applied.call(plan, [], { durationMs: 1, changes: [], sinceChangeMs: 1 });
        expect(Number(await versionOf(cluster().api, keyIn(namespace.name)))).toBeGreaterThanOrEqual(
          Number(written),
        );
      });

      test('says nothing of a pod that befell the former one of its name', async () => {
        await using namespace = await cluster().namespace();
        const publishing = await startPublishing({ cluster: cluster(), namespace: namespace.name });
        publishing.accept(await createConfig(cluster().api, namespace.name));
        publishing.begin();
        publishing.pods = [{ name: 'haproxy-0', uid: 'former', ops: [] }];
        const { plan } = publishing.release({});
        const rejected = { pod: 'haproxy-0', result: 'rejected', reasons: ['no'], durationMs: 1 } as const;
        const facts = { durationMs: 1, changes: [], sinceChangeMs: 1 };
        publishing.hooks.applied.call(plan, [rejected], facts);
        await untilSays(namespace.name, ({ status }) => JSON.stringify(status).includes('rejected'));
        publishing.pods = [{ name: 'haproxy-0', uid: 'next', ops: [] }];
        publishing.hooks.applied.call(plan, [], facts);
        const { status } = await untilSays(namespace.name, (cfg) => JSON.stringify(cfg).includes('"next"'));
        expect(status.pods).toEqual([{ name: 'haproxy-0', uid: 'next' }]);
      });

      test('stays far below what etcd takes', async () => {
        await using namespace = await cluster().namespace();
        const publishing = await startPublishing({
          cluster: cluster(),
          namespace: namespace.name,
          settings: { content: true, interval: '1s' },
        });
        publishing.accept(await createConfig(cluster().api, namespace.name));
        publishing.begin();
        const many = Array.from({ length: 8_000 }, (_, index) =>
          section(`section-${index}`, `frontend f${index} from base\n    mode http\n`),
        );
        const huge = {
          name: 'huge',
          text: 'é'.repeat(400_000),
          reloadOnChange: true,
          kind: 'file' as const,
          secret: false,
          provenance: provenanceOf('huge'),
        };
        publishing.release({ pieces: [base, profiles, ...many], files: [huge] });
        const cfg = await untilSays(namespace.name, () => true);
        expect(cfg.spec.sections.length + cfg.spec.omitted.sections).toBe(many.length + 2);
        expect(cfg.spec.omitted).toMatchObject({ sections: expect.any(Number), files: 0, content: 1 });
        expect(cfg.spec.omitted.sections).toBeGreaterThan(1_000);
        expect(Buffer.byteLength(JSON.stringify(cfg))).toBeLessThan(800_000);
      });
    });
  },
  ['1.37'],
);
