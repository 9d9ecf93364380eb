import type { HealthReport } from '../contract/controller.ts';
import { PluginError } from '../contract/errors.ts';
import type { Clock, Log, Meter } from '../contract/observability.ts';
import type { ServiceKey } from '../contract/service-key.ts';
import { systemClock } from './clock.ts';
import { withDeadline } from './deadline.ts';
import { parseEnabled, type EnabledPlugin, type ReadyPlugin } from './enabled.ts';
import { disposeAll } from './disposal.ts';
import { askChecks } from './health.ts';
import { eachHook, guardHook } from './guard.ts';
import type { Deadline } from './guarded-tap.ts';
import { noMeter, RelayMeter } from './meter.ts';
import { PendingRuns, type PendingRun } from './pending.ts';
import { pluginContext } from './plugin-context.ts';
import { PluginRecord } from './plugin-record.ts';
import { Services, type ServiceOffer } from './services.ts';

/** Of every hook and of a dispose, where nothing else is said. */
const DEFAULT_DEADLINE_MS = 10_000;
const SETUP_DEADLINE_MS = 30_000;

type Deadlines<H> = { readonly [K in keyof H]?: Deadline };

/** A host is generic over its hooks: the controller's and the agent's differ, the rules do not. */
export interface HostOptions<H extends object> {
  /** Hooks by name; a `HookMap` among them is the judges'. Taps that its owner made before are guarded too. */
  readonly hooks: H;
  /** Hooks whose taps only look: a failure is logged and counted, never propagated. */
  readonly observers: readonly (keyof H & string)[];
  readonly plugins: readonly EnabledPlugin<H>[];
  readonly log: Log;
  /** A relay is used as it is: its owner measures into what a plugin provides, too. */
  readonly meter?: Meter | RelayMeter;
  readonly clock?: Clock;
  /** By hook; `Infinity` for none, 10 s for hooks that are not named. */
  readonly deadlines?: Deadlines<H>;
  readonly services?: readonly ServiceOffer[];
  /** Rules about the whole set, asked when everything is set up. @throws PluginError `PLUGIN_SET` */
  readonly check?: (hooks: H) => void;
}

interface Loaded<H> extends ReadyPlugin<H> {
  readonly record: PluginRecord;
}

/** Plugins around a set of hooks, from their start to their end. */
export class Host<H extends object> {
  readonly hooks: H;
  readonly #options: HostOptions<H>;
  readonly #clock: Clock;
  readonly #meter: RelayMeter;
  readonly #pending: PendingRuns;
  readonly #services = new Services();
  readonly #stop = new AbortController();
  readonly #loaded: Loaded<H>[] = [];
  #closing: Promise<void> | undefined;

  private constructor(options: HostOptions<H>) {
    this.hooks = options.hooks;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const { meter = noMeter } = options;
    this.#meter = meter instanceof RelayMeter ? meter : new RelayMeter(meter, options.log, this.#clock);
    this.#pending = new PendingRuns(this.#clock);
    for (const { key, service } of options.services ?? []) this.#services.provide('host', key, service);
    this.#guardHooks();
  }

  /**
   * Judges all plugins and their options, then sets them up in order. A failure names its plugin, undoes what was set up, and is
   * the one error that is thrown.
   *
   * @throws PluginError; an AggregateError of them when several plugins cannot be started as they are.
   */
  static async start<H extends object>(options: HostOptions<H>): Promise<Host<H>> {
    const ready = parseEnabled(options.plugins);
    const host = new Host(options);
    try {
      for (const plugin of ready) await host.#setUp(plugin);
      host.#checkJudges();
      options.check?.(options.hooks);
    } catch (error) {
      await host.close().catch((failure: unknown) => {
        options.log.error({ err: failure }, 'undoing a failed start failed too');
      });
      throw error;
    }
    return host;
  }

  /** Plugins in the order in which they were set up. */
  get plugins(): readonly ReadyPlugin<H>[] {
    return this.#loaded;
  }

  /** Hooks that a plugin tapped. */
  hooksOf(plugin: string): string[] {
    return [...(this.#loaded.find(({ record }) => record.name === plugin)?.record.hooks ?? [])];
  }

  servicesOf(plugin: string): string[] {
    return this.#services.of(plugin);
  }

  /** @throws PluginError `PLUGIN_SERVICE` when nobody provides it. */
  use<T>(key: ServiceKey<T>): T {
    return this.#services.use('host', key);
  }

  tryUse<T>(key: ServiceKey<T>): T | undefined {
    return this.#services.tryUse(key);
  }

  /** Asks every check now; one that hangs is a problem, not a wait. */
  async health(): Promise<HealthReport[]> {
    const reports = await Promise.all(
      this.#loaded.map(async ({ record: { name: plugin, checks } }) => {
        const answers = await askChecks(checks, this.#clock);
        return answers.map((check) => ({ plugin, ...check }));
      }),
    );
    return reports.flat();
  }

  /** What plugins run at this moment. */
  pending(): PendingRun[] {
    return this.#pending.list();
  }

  /** Plugins that are still to be disposed. */
  undisposed(): string[] {
    return this.#loaded.flatMap(({ record }) => (record.disposed ? [] : [record.name]));
  }

  /**
   * Aborts every plugin's signal, then disposes in reverse. Calling it again waits for the same stop.
   *
   * @throws AggregateError of the failures, time-outs included, when everything was tried.
   */
  close({ deadlineMs = DEFAULT_DEADLINE_MS }: { readonly deadlineMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(deadlineMs: number): Promise<void> {
    this.#stop.abort();
    const failures = await disposeAll(
      this.#loaded.map(({ record }) => record),
      { clock: this.#clock, pending: this.#pending, deadlineMs },
    );
    if (failures.length === 0) return;
    throw new AggregateError(failures, failures.map(({ message }) => message).join('\n'));
  }

  #guardHooks(): void {
    const { hooks, observers, log } = this.#options;
    const deadlines: Deadlines<H> = this.#options.deadlines ?? {};
    const facts = {
      log,
      meter: this.#meter,
      clock: this.#clock,
      pending: this.#pending,
      stopped: this.#stop.signal,
    };
    for (const { key, name, hook, judges } of eachHook(hooks)) {
      const role = judges ? 'judge' : observers.includes(key as keyof H & string) ? 'observer' : 'stage';
      const deadline = deadlines[key as keyof H] ?? DEFAULT_DEADLINE_MS;
      guardHook(hook, { name, role, deadline }, facts);
    }
  }

  async #setUp(ready: ReadyPlugin<H>): Promise<void> {
    const { plugin, options } = ready;
    const { log } = this.#options;
    const record = new PluginRecord(plugin.name, log);
    const context = pluginContext(plugin, this.hooks, record, {
      log,
      meter: this.#meter,
      clock: this.#clock,
      signal: this.#stop.signal,
      services: this.#services,
    });
    this.#loaded.push({ ...ready, record });
    record.settingUp = true;
    try {
      const run = async (): Promise<void> => await plugin.setup(context, options);
      await withDeadline(() => this.#pending.track(plugin.name, 'setup', run()), {
        ms: SETUP_DEADLINE_MS,
        clock: this.#clock,
      });
    } catch (cause) {
      throw setupError(plugin.name, cause);
    } finally {
      record.settingUp = false;
    }
  }

  /** A judge that taps nothing would never refuse anything. */
  #checkJudges(): void {
    for (const { plugin, record } of this.#loaded) {
      if (plugin.judge === undefined) continue;
      if ([...record.hooks].some((hook) => hook.endsWith(`:${plugin.judge}`))) continue;
      throw new PluginError(
        'PLUGIN_SET',
        plugin.name,
        `declares the judge kind '${plugin.judge}' but judges nothing: tap hooks.validate in setup`,
      );
    }
  }
}

function setupError(plugin: string, cause: unknown): PluginError {
  if (cause instanceof PluginError && cause.plugin === plugin) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  return new PluginError('PLUGIN_SETUP', plugin, `setup failed: ${text}`, { cause });
}
