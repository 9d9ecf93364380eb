import { createHooks, describePlugins, enabledPlugins, Host, readHostConfig } from '@haptic/core/host';
import type { Hooks, KubeObject, MergedConfig, Rendered } from '@haptic/core/contract';
import { memoryLog } from '@haptic/core/testing';
import { runJudges } from '../../core/src/pipeline/judges.ts';
import { fixtureView } from '../../core/src/store/index.ts';

/**
 * A process of its own, as the program is: `judge-hosts.ts CONFIG HOST…` starts the plugins of a host configuration and asks the
 * custom judges about an Ingress with these hosts.
 */
const [file, ...hosts] = process.argv.slice(2);
const ingress: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { namespace: 'shop', name: 'web' },
  spec: { rules: hosts.map((host) => ({ host })) },
};

async function judge(): Promise<object> {
  const config = await readHostConfig({ file: file! });
  await using host = await Host.start({
    hooks: createHooks(),
    observers: [],
    plugins: await enabledPlugins<Hooks>({ version: '0.0.0', plugins: [] }, config),
    log: memoryLog(),
  });
  const candidate = {
    config: {} as MergedConfig,
    fleet: { haproxyVersion: '3.4.7', paths: { base: '/', workerSocket: '/worker.sock' } },
    rendered: { locate: () => undefined } as unknown as Rendered,
    view: fixtureView({ ingresses: { indexBy: [], ignoreFields: [] } }, { ingresses: [ingress] }),
  };
  const context = { signal: new AbortController().signal, caller: 'validate' } as const;
  const verdict = await runJudges(host, ['custom'], candidate, context);
  return { verdict, plugins: describePlugins(host) };
}

try {
  console.log(JSON.stringify(await judge()));
} catch (error) {
  const { code, message } = error as Error & { readonly code?: string };
  console.log(JSON.stringify({ error: { code, message } }));
}
