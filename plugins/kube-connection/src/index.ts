import { definePlugin, Refused } from '@haptic/core/contract';
import { Discovery, KUBE, KubeApi, loadKubeConfig } from '@haptic/kube';
import { z } from 'zod';

const options = z.strictObject({
  /** A kubeconfig file. Without one: the pod's service account, else `KUBECONFIG` or `~/.kube/config`. */
  kubeconfig: z.string().min(1).exactOptional(),
  /** Its context; the current one when absent. */
  context: z.string().min(1).exactOptional(),
  /** Of the installation; the pod's own or the context's when absent. */
  namespace: z.string().min(1).exactOptional(),
  /** How often to ask which kinds are served, milliseconds. An unchanged answer costs next to nothing. */
  discoveryInterval: z.int().positive().default(10_000),
});

/** The connection to the Kubernetes API, for the plugins that need one. */
export default definePlugin({
  name: 'kube-connection',
  apiVersion: 1,
  options,
  setup(context, { kubeconfig, context: kubeContext, namespace, discoveryInterval }) {
    const { log, clock, signal } = context;
    const api = new KubeApi(
      loadKubeConfig({
        ...(kubeconfig !== undefined && { file: kubeconfig }),
        ...(kubeContext !== undefined && { context: kubeContext }),
      }),
    );
    context.onDispose(() => api.close());
    const home = namespace ?? api.namespace;
    if (home === undefined) {
      throw new Refused('the namespace of the installation is not known: set the option "namespace"');
    }
    const discovery = new Discovery({ api, clock, log, interval: discoveryInterval });
    // The server may be away: probes are answered meanwhile, and the configuration is waited for.
    context.health('api server', () => discovery.problem);
    const listeners = new Set<() => void>();
    const changed = (): void => {
      for (const listener of listeners) listener();
    };
    context.provide(KUBE, {
      api,
      namespace: home,
      discovery,
      onKindsChanged(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      async refreshKinds(refreshSignal) {
        if (await discovery.refresh(refreshSignal)) changed();
      },
    });
    const following = discovery.follow(changed, signal);
    context.onDispose(() => following);
  },
});
