import { hostname } from 'node:os';
import { randomBytes } from 'node:crypto';
import {
  ALWAYS_LEADER,
  CONTROLLER,
  definePlugin,
  FLEET,
  REACHABLE_KINDS,
  STATE_STORE,
  TERM,
  type ReachableKind,
} from '@haptic/core/contract';
import { FIELD_MANAGER, KUBE } from '@haptic/kube';
import { options } from './options.ts';
import { Publisher } from './publisher.ts';
import { PUBLISH_KEY, publishSettings } from './settings.ts';

export {
  addressRules,
  conditionRules,
  declaredRules,
  namespaceRules,
  serviceRules,
  watchedRules,
} from './access-rules.ts';
export { haproxyCfgSpec, haproxyCfgStatus } from './haproxy-cfg/schema.ts';

/** Writes what people and other programs read of the installation. The leader alone does, beside its work. */
export default definePlugin({
  name: 'publish',
  apiVersion: 1,
  options,
  config: { key: PUBLISH_KEY, schema: publishSettings },
  after: ['kube-connection'],
  setup(context, { addresses = [], service }) {
    const { name, hooks, clock, log, meter, signal } = context;
    const terms = context.tryUse(TERM);
    const kinds: ReachableKind[] = [];
    context.provide(REACHABLE_KINDS, { add: (kind) => void kinds.push(kind) });
    const publisher = new Publisher({
      kube: context.use(KUBE),
      term: () => terms?.current() ?? ALWAYS_LEADER,
      store: context.tryUse(STATE_STORE),
      controller: context.use(CONTROLLER),
      fleet: () => context.tryUse(FLEET),
      kinds,
      addresses,
      service,
      reporter: {
        controller: 'haproxy-haptic.org/controller',
        instance: `${hostname()}-${randomBytes(4).toString('hex')}`,
      },
      fieldManager: FIELD_MANAGER,
      clock,
      log,
      meter,
      signal,
    });
    hooks.configAccepted.tap(name, (config, version) => publisher.configAccepted(config, version));
    hooks.configRejected.tap(name, (error, facts) => publisher.configRejected(error, facts));
    hooks.released.tap(name, (rendered, { config }) => publisher.released(rendered, config));
    hooks.applied.tap(name, (_plan, outcomes) => publisher.applied(outcomes));
    hooks.quarantined.tap(name, (change) => publisher.quarantined(change));
    context.health('publishing', () => publisher.problem);
    const stop = terms?.onChange(() => publisher.termChanged());
    const running = publisher.run();
    context.onDispose(async () => {
      stop?.();
      await running;
    });
  },
});
