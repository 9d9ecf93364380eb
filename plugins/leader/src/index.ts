import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { Cancelled, definePlugin, FLEET, TERM, type Term, type Terms } from '@haptic/core/contract';
import { CONFIG_NAME, KUBE } from '@haptic/kube';
import { Alone } from './alone.ts';
import { Candidacy } from './candidacy.ts';
import {
  DEFAULT_SETTINGS,
  electionOptions,
  electionSettings,
  type ElectionSettings,
} from './election-settings.ts';

const KEY = 'leaderElection';

const nobody: Term = Object.freeze({ leader: false, epoch: 0, signal: AbortSignal.abort() });

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
  setup(context, { identity = newIdentity(), enabled, ...named }) {
    const { log, clock, meter, signal } = context;
    const kube = context.use(KUBE);
    const listeners = new Set<() => void>();
    const changed = (): void => {
      for (const listener of listeners) listener();
    };
    const floor = async (limit: AbortSignal): Promise<number> =>
      (await context.tryUse(FLEET)?.highestEpoch(limit)) ?? 0;
    let terms: Pick<Terms, 'current' | 'raise'> | undefined;
    let candidacy: Candidacy | undefined;
    let timing = DEFAULT_SETTINGS;

    /** Once, with the timing of the first configuration, and with the default where that one is broken. */
    const start = (settings: ElectionSettings): void => {
      if (terms !== undefined || signal.aborted) return;
      timing = settings;
      if (!enabled) {
        terms = new Alone(1);
        changed();
        return;
      }
      const leaseName = named.leaseName ?? `${context.tryUse(CONFIG_NAME) ?? 'haptic'}-leader`;
      candidacy = new Candidacy({
        kube,
        leaseName,
        settings,
        identity,
        floor,
        changed,
        clock,
        log,
        meter,
      });
      terms = candidacy.elector;
      const running = candidacy.run(signal);
      context.onDispose(() => running);
    };

    context.provide(TERM, {
      current: () => terms?.current() ?? nobody,
      onChange(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      raise: (seen, limit) => terms?.raise(seen, limit) ?? Promise.reject(new Cancelled('nobody leads yet')),
    });
    const retime = (settings: ElectionSettings): void => {
      if (candidacy === undefined || isDeepStrictEqual(settings, timing)) return;
      log.info({ before: timing, now: settings }, 'the timing of the election changes');
      timing = settings;
      candidacy.retime(settings);
    };

    context.health('lease', () => candidacy?.elector.problem);
    context.hooks.merge.tap(context.name, (merged) => {
      start(merged.owned[KEY] as ElectionSettings);
      return merged;
    });
    context.hooks.configAccepted.tap(context.name, ({ owned }) => retime(owned[KEY] as ElectionSettings));
    // Somebody has to say what is wrong with a configuration that does not even merge.
    context.hooks.configRejected.tap(context.name, () => start(DEFAULT_SETTINGS));
  },
});
