import { definePlugin, POD_DISCOVERY, Refused, z, type MergedConfig } from '@haptic/core/contract';
import { KUBE } from '@haptic/kube';
import { KEY, podSelectorSchema, type PodSelector } from './pod-selector.ts';
import { PodWatch } from './pod-watch.ts';

export { accessRules } from './access-rules.ts';

/** Finds the HAProxy pods of an installation by their labels, in its own namespace alone. */
export default definePlugin({
  name: 'pod-discovery',
  apiVersion: 1,
  options: z.strictObject({}),
  config: { key: KEY, schema: podSelectorSchema },
  after: ['kube-connection'],
  setup(context) {
    const { clock, log, meter, signal, hooks } = context;
    const watch = new PodWatch({ kube: context.use(KUBE), clock, log, meter, signal });
    /** Nobody wants to know where the pods are listed by hand. */
    let isAsked = false;
    context.provide(POD_DISCOVERY, {
      follow(listener) {
        isAsked = true;
        return watch.follow(listener);
      },
    });

    hooks.merge.tap(context.name, (merged) => {
      if (!isAsked) return merged;
      const { matchLabels } = selectorOf(merged);
      // A new leader asks the pods what they have seen, long before the first configuration is accepted.
      if (!watch.isSelecting) watch.select(matchLabels);
      return merged;
    });
    hooks.configAccepted.tap(context.name, (merged) => {
      if (isAsked) watch.select(selectorOf(merged).matchLabels);
    });
    context.health('pods', () => watch.problem);
    context.onDispose(() => watch.idle());
  },
});

/** @throws Refused when there is none. */
function selectorOf({ owned }: MergedConfig): PodSelector {
  const selector = owned[KEY] as PodSelector | undefined;
  if (selector !== undefined) return selector;
  const message = 'expected the labels of the HAProxy pods, e.g. `matchLabels: {app: haproxy}`';
  throw new Refused([{ where: `spec.${KEY}`, message }]);
}
