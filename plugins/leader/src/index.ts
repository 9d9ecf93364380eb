import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { definePlugin, FLEET, TERM } from '@haptic/core/contract';
import { CONFIG_NAME, KUBE } from '@haptic/kube';
import {
  DEFAULT_SETTINGS,
  electionOptions,
  electionSettings,
  type ElectionSettings,
} from './election-settings.ts';
import { Leadership } from './leadership.ts';

const KEY = 'leaderElection';

function newIdentity(): string {
  return `${hostname()}-${randomBytes(4).toString('hex')}`;
}

/** One of several controllers leads: it deploys and writes, the others stay warm. */
export default definePlugin({
  name: 'leader',
  apiVersion: 1,
  options: electionOptions,
  config: { key: KEY, schema: electionSettings },
  after: ['kube-connection'],
  setup(context, { identity = newIdentity(), enabled, leaseName }) {
    const { name, hooks, log, clock, meter, signal } = context;
    const leadership = new Leadership({
      kube: context.use(KUBE),
      enabled,
      identity,
      leaseName: () => leaseName ?? `${context.tryUse(CONFIG_NAME) ?? 'haptic'}-leader`,
      floor: async (limit) => (await context.tryUse(FLEET)?.highestEpoch(limit)) ?? 0,
      begun: (running) => context.onDispose(() => running),
      clock,
      log,
      meter,
      signal,
    });
    context.provide(TERM, leadership);
    context.health('lease', () => leadership.problem);
    // Once, with the timing of the first configuration, and with the default where that one is broken.
    hooks.merge.tap(name, (merged) => {
      leadership.begin(merged.owned[KEY] as ElectionSettings);
      return merged;
    });
    hooks.configAccepted.tap(name, ({ owned }) => leadership.retime(owned[KEY] as ElectionSettings));
    // Somebody has to say what is wrong with a configuration that does not even merge.
    hooks.configRejected.tap(name, () => leadership.begin(DEFAULT_SETTINGS));
  },
});
