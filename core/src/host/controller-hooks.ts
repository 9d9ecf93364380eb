import {
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  HookMap,
  SyncBailHook,
  SyncHook,
  SyncWaterfallHook,
} from 'tapable';
import { PluginError } from '../contract/errors.ts';
import type { Hooks } from '../contract/hooks.ts';
import type { HostOptions } from './host.ts';

/** The controller's hooks: six stages and the observers. */
export function createHooks(): Hooks {
  return Object.freeze<Hooks>({
    load: new AsyncSeriesHook(['configSet', 'context'], 'load'),
    merge: new SyncWaterfallHook(['merged', 'configSet'], 'merge'),
    render: new AsyncSeriesBailHook(['input', 'context'], 'render'),
    validate: new HookMap(
      (kind: string) => new AsyncSeriesHook(['candidate', 'findings', 'context'], `validate:${kind}`),
      'validate',
    ),
    plan: new SyncBailHook(['input'], 'plan'),
    deploy: new AsyncSeriesHook(['deployment', 'outcomes', 'context'], 'deploy'),
    rendered: new SyncHook(['plan', 'facts'], 'rendered'),
    judged: new SyncHook(['plan', 'verdict', 'facts'], 'judged'),
    applied: new SyncHook(['plan', 'outcomes', 'facts'], 'applied'),
    released: new SyncHook(['rendered', 'facts'], 'released'),
    refused: new SyncHook(['refusal'], 'refused'),
    quarantined: new SyncHook(['change'], 'quarantined'),
    configAccepted: new SyncHook(['config', 'version'], 'configAccepted'),
    configRejected: new SyncHook(['error', 'rejection'], 'configRejected'),
    leadership: new SyncHook(['state'], 'leadership'),
  });
}

/** What a host of the controller needs besides its plugins: `Host.start({ ...controllerRules, hooks: createHooks(), … })`. */
export const controllerRules = Object.freeze({
  observers: [
    'rendered',
    'judged',
    'applied',
    'released',
    'refused',
    'quarantined',
    'configAccepted',
    'configRejected',
    'leadership',
  ],
  deadlines: {
    load: Infinity, // until the source has synced, or the start is called off
    render: (input: { readonly config: { readonly controller: { readonly renderTimeout: number } } }) =>
      input.config.controller.renderTimeout,
  },
  check: checkSet,
} satisfies Pick<HostOptions<Hooks>, 'observers' | 'deadlines' | 'check'>);

/** A hook without a tap succeeds, so what must be there is asked for. Not by `isUsed()`: an interceptor makes it true. */
function checkSet(hooks: Hooks): void {
  exactlyOne(hooks.load.taps, 'load', 'config source', 'enable one plugin that taps load');
  exactlyOne(hooks.render.taps, 'render', 'renderer', 'the core brings its own, so no plugin may tap render');
  exactlyOne(
    hooks.validate.for('haproxy').taps,
    'validate:haproxy',
    "judge of kind 'haproxy'",
    'enable the plugin that runs haproxy -c: without it nothing may be deployed',
  );
}

function exactlyOne(
  taps: readonly { readonly name: string }[],
  hook: string,
  what: string,
  mend: string,
): void {
  if (taps.length === 1) return;
  const found =
    taps.length === 0 ? 'none is enabled' : `enabled are ${taps.map(({ name }) => name).join(', ')}`;
  throw new PluginError(
    'PLUGIN_SET',
    taps.at(-1)?.name ?? 'host',
    `exactly one ${what} is needed, ${found}; ${mend}`,
    {
      hook,
    },
  );
}
