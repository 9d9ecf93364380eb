import { HookMap } from 'tapable';
import { PluginError } from '../contract/errors.ts';
import type { Clock, Log, Meter } from '../contract/observability.ts';
import type { HealthCheck, PluginContext, PluginDefinition, PluginHooks } from '../contract/plugin.ts';
import type { z } from 'zod';
import type { ServiceKey } from '../contract/service-key.ts';
import { METER } from '../contract/services.ts';
import { isSync, JUDGE_KINDS, type AnyHook } from './guard.ts';
import type { Run } from './guarded-tap.ts';
import type { PluginRecord } from './plugin-record.ts';
import type { RelayMeter } from './meter.ts';
import type { Services } from './services.ts';

/** What the contexts of one host share. */
export interface ContextFacts {
  readonly log: Log;
  readonly meter: RelayMeter;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly services: Services;
}

/** What one plugin gets: its name is fixed in everything that it registers. */
export function pluginContext<H extends object>(
  plugin: PluginDefinition<z.ZodType, H>,
  hooks: H,
  record: PluginRecord,
  facts: ContextFacts,
): PluginContext<H> {
  const { name } = plugin;
  const { services, signal } = facts;
  return Object.freeze({
    name,
    hooks: hookViews(plugin, hooks, record),
    log: facts.log.child({ plugin: name }),
    meter: facts.meter,
    clock: facts.clock,
    signal,
    provide<T>(key: ServiceKey<T>, service: T): void {
      services.provide(name, key, service);
      if (key.name === METER.name) facts.meter.attach(service as Meter);
    },
    use: <T>(key: ServiceKey<T>): T => services.use(name, key),
    tryUse: <T>(key: ServiceKey<T>): T | undefined => services.tryUse(key),
    health: (check: string, run: HealthCheck) => void record.checks.set(check, run),
    onDispose: (dispose: () => void | Promise<void>) => record.addDisposer(dispose),
  });
}

function hookViews<H extends object>(
  plugin: PluginDefinition<z.ZodType, H>,
  hooks: H,
  record: PluginRecord,
): PluginHooks<H> {
  const view = (name: string, hook: unknown): object => {
    if (!(hook instanceof HookMap)) return hookView(name, hook as AnyHook, plugin.name, record);
    if (plugin.judge === undefined) return closedView(name, plugin.name);
    return hookView(`${name}:${plugin.judge}`, hook.for(plugin.judge) as AnyHook, plugin.name, record);
  };
  const views = Object.entries(hooks).map(([name, hook]: [string, unknown]) => [name, view(name, hook)]);
  return Object.freeze(Object.fromEntries(views)) as PluginHooks<H>;
}

function hookView(name: string, hook: AnyHook, plugin: string, record: PluginRecord): object {
  const refuse = (mend: string): never => {
    throw new PluginError('PLUGIN_API', plugin, `${name} was tapped wrongly: ${mend}`, { hook: name });
  };
  const options = (given: unknown): object => {
    const {
      name: as,
      deadlineMs,
      before,
      stage,
    } = (typeof given === 'string' ? { name: given } : given) as GivenOptions;
    if (as !== plugin) refuse(`the first argument must be the plugin's name, "${plugin}" (context.name)`);
    if (!record.settingUp) refuse('taps are made during setup, later ones could not be undone');
    record.hooks.add(name);
    return { name: plugin, deadlineMs, before, stage };
  };
  return Object.freeze({
    name,
    tap: (given: unknown, fn: Run) => hook.tap(options(given), fn),
    tapPromise(given: unknown, fn: Run): void {
      if (isSync(hook))
        refuse('the hook is synchronous: use tap, and handle the failure of what you start there');
      hook.tapPromise(options(given), fn);
    },
  });
}

/** `validate` for a plugin that declares no judge kind. */
function closedView(name: string, plugin: string): object {
  const refuse = (): never => {
    const kinds = JUDGE_KINDS.map((kind) => `'${kind}'`).join(', ');
    throw new PluginError('PLUGIN_API', plugin, `taps ${name} without a kind: declare \`judge\` (${kinds})`, {
      hook: name,
    });
  };
  return Object.freeze({ name, tap: refuse, tapPromise: refuse });
}

interface GivenOptions {
  readonly name?: unknown;
  readonly deadlineMs?: unknown;
  readonly before?: unknown;
  readonly stage?: unknown;
}
