import type { z } from 'zod';
import type { JudgeKind } from './finding.ts';
import type { Hooks } from './hooks.ts';
import type { Clock, Log, Meter } from './observability.ts';
import type { ServiceKey } from './service-key.ts';

/** Version of this contract; a plugin of another version is a start error. */
export const API_VERSION = 1;

/** A plugin's view of the hooks: the tap's name is fixed to the plugin's, and `validate` is the hook of its declared judge kind. */
export type PluginHooks<H> = H extends Hooks
  ? { readonly [K in Exclude<keyof H, 'validate'>]: PluginHook<H[K]> } & {
      readonly validate: PluginHook<ReturnType<H['validate']['for']>>;
    }
  : { readonly [K in keyof H]: PluginHook<H[K]> };

/** For a tap that needs another deadline than its hook has. */
export interface TapOptions {
  /** The plugin's own: `context.name`. */
  readonly name: string;
  /** Milliseconds; the hook's own deadline when absent. Synchronous taps cannot be stopped, only named when they were slow. */
  readonly deadlineMs?: number;
}

/**
 * tapable's taps without the options that break rules: no `before`, no stages, no callbacks. Taps are made during `setup`, and
 * stay. `tap` takes synchronous functions only: tapable would lose the rejection of an asynchronous one.
 */
export type PluginHook<T> = { readonly name: string } & (T extends {
  tap(options: never, fn: infer Sync): void;
}
  ? { tap(options: string | TapOptions, fn: Sync): void }
  : unknown) &
  (T extends { tapPromise(options: never, fn: infer Async): void }
    ? { tapPromise(options: string | TapOptions, fn: Async): void }
    : unknown);

/** Undefined when it is fine, else what is wrong. */
export type HealthCheck = () => string | undefined | Promise<string | undefined>;

/** What a plugin gets instead of imports; its functions may be taken out of it. */
export interface PluginContext<H = Hooks> {
  readonly name: string;
  readonly hooks: PluginHooks<H>;
  readonly log: Log;
  readonly meter: Meter;
  readonly clock: Clock;
  /** Aborted when the host stops. */
  readonly signal: AbortSignal;
  /** Offers a service. @throws PluginError `PLUGIN_SERVICE` when another plugin already does. */
  readonly provide: <T>(key: ServiceKey<T>, service: T) => void;
  /** @throws PluginError `PLUGIN_SERVICE`, naming what offers exist, when no plugin provides it. */
  readonly use: <T>(key: ServiceKey<T>) => T;
  /** The service, or undefined when nobody provides it. */
  readonly tryUse: <T>(key: ServiceKey<T>) => T | undefined;
  /** A named check of the health body: undefined is fine, a text (or a throw) says what is wrong. Asked by every probe. */
  readonly health: (name: string, check: HealthCheck) => void;
  /** Run in reverse order of registration when the host stops; at once when it already has. */
  readonly onDispose: (dispose: () => void | Promise<void>) => void;
}

/** What a plugin is; docs/plugins.md tells of it at length. */
export interface PluginDefinition<S extends z.ZodType = z.ZodType, H = Hooks> {
  readonly name: string;
  readonly apiVersion: typeof API_VERSION;
  /** `z.strictObject`: a misspelt key is an error. */
  readonly options: S;
  /** A key of the config kind that this plugin owns. */
  readonly config?: { readonly key: string; readonly schema: z.ZodType };
  readonly judge?: JudgeKind;
  /** Names of plugins that must be set up first. */
  readonly after?: readonly string[];
  setup(context: PluginContext<H>, options: z.output<S>): void | Promise<void>;
}

/** Fixes the inferred type of the options; the default export of every plugin. */
export function definePlugin<S extends z.ZodType>(definition: PluginDefinition<S>): PluginDefinition<S> {
  return definition;
}
