import {
  Cancelled,
  CONFIG_CHANGES,
  definePlugin,
  OBJECT_INTERESTS,
  Refused,
  RESOURCE_SOURCE,
} from '@haptic/core/contract';
import { CONFIG_NAME, configResource, KUBE, refusalProblem } from '@haptic/kube';
import { z } from 'zod';
import { ConfigObjects } from './config/config-objects.ts';
import { configSet } from './config/config-set.ts';
import { ClusterResources } from './resources/cluster-resources.ts';
import { Interests } from './resources/interests.ts';

/** The config set and watched resources from a Kubernetes API. */
export default definePlugin({
  name: 'source-crd',
  apiVersion: 1,
  options: z.strictObject({
    /** Name of the HAProxyTemplateConfig in the installation's namespace. */
    config: z.string().min(1).default('haptic'),
  }),
  after: ['kube-connection'],
  setup(context, { config }) {
    const { log, clock, meter, signal } = context;
    const kube = context.use(KUBE);
    const objects = new ConfigObjects({
      kube,
      config,
      clock,
      log,
      meter,
      changed: () => context.tryUse(CONFIG_CHANGES)?.changed(),
    });
    const interests = new Interests();
    const resources = new ClusterResources({ kube, interests, clock, log, meter, signal });
    context.provide(CONFIG_NAME, config);
    context.provide(OBJECT_INTERESTS, interests);
    context.provide(RESOURCE_SOURCE, resources);

    context.hooks.load.tapPromise({ name: context.name, deadlineMs: Infinity }, async (collector, call) => {
      await unlessAborted(Promise.all([objects.answered, kube.discovery.known]), call.signal);
      if (objects.notServed) {
        throw new Refused(
          `the kinds of ${configResource.apiVersion} are not installed: apply the definitions of the chart (chart/crds) first`,
        );
      }
      if (objects.config === undefined) {
        throw new Refused(`there is no HAProxyTemplateConfig "${config}" in the namespace ${kube.namespace}`);
      }
      const { uid = '', generation = 0 } = objects.config.metadata;
      collector.version({ namespace: kube.namespace, name: config, uid, generation });
      collector.provide(configSet(objects.config, objects.libraries));
    });

    context.health('configuration', () => refusalProblem(objects.refusals));
    context.health('watched resources', () => refusalProblem(resources.refusals));

    const stopListening = kube.onKindsChanged(() => {
      objects.kick();
      resources.kindsChanged();
      // A configuration that waits for a kind can be tried again.
      context.tryUse(CONFIG_CHANGES)?.changed();
    });
    context.onDispose(stopListening);
    const following = objects.run(signal);
    context.onDispose(async () => {
      await following;
      await resources.idle();
    });
  },
});

/** Waits until it is known what there is: which objects, or that the server does not know the kinds. */
async function unlessAborted(answers: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(new Cancelled());
  signal.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([answers, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
