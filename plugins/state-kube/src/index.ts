import { ALWAYS_LEADER, definePlugin, STATE_STORE, TERM, z } from '@haptic/core/contract';
import { CONFIG_NAME, KUBE } from '@haptic/kube';
import { ConfigMapStore } from './config-map-store.ts';
import { TermStore } from './term-store.ts';

export { accessRules } from './access-rules.ts';

/** Keeps the controller's documents in a ConfigMap, which the leader alone writes. */
export default definePlugin({
  name: 'state-kube',
  apiVersion: 1,
  options: z.strictObject({
    /** Name of the ConfigMap, in the installation's namespace; `<config>-state` after the configuration when absent. */
    name: z.string().min(1).exactOptional(),
  }),
  after: ['kube-connection'],
  setup(context, { name = `${context.tryUse(CONFIG_NAME) ?? 'haptic'}-state` }) {
    const { clock, log, signal } = context;
    const { api, namespace } = context.use(KUBE);
    const terms = context.tryUse(TERM);
    const configMap = new ConfigMapStore({ api, namespace, name });
    const store = new TermStore({
      store: configMap,
      term: () => terms?.current() ?? ALWAYS_LEADER,
      clock,
      log,
    });
    context.provide(STATE_STORE, store);
    context.health('state', () => configMap.problem);
    const running = new Set<Promise<void>>();
    const stop = terms?.onChange(() => {
      const done = store.termChanged(signal).finally(() => running.delete(done));
      running.add(done);
    });
    context.onDispose(async () => {
      stop?.();
      await Promise.all(running);
      await configMap.idle();
    });
  },
});
