import type { MergedConfig } from './config.ts';
import type { ContentReader } from './contents.ts';
import type { JsonObject } from './object.ts';
import type { Meter } from './observability.ts';
import type { FleetFacts } from './render-input.ts';
import { serviceKey, type ServiceKey } from './service-key.ts';
import type { TrafficProbe } from './traffic-probe.ts';
import type { StoreView } from './view.ts';

/**
 * Provided by the plugin that exports metrics: what every plugin and the host measure goes there from then on. Put it first in
 * the order, so that it misses nothing.
 */
export const METER: ServiceKey<Meter> = serviceKey('meter');

/**
 * Keeps small documents from one run to the next. Each is written as a whole and is there as a whole, or as it was before, whatever
 * happens in between. Never given Secret data.
 */
export interface StateStore {
  /** Undefined where it was never written. @throws Retry when the store cannot be reached. */
  read(name: string): Promise<string | undefined>;
  /** Resolves when it is durable. @throws Retry when the store cannot be reached; Cancelled when the signal aborts first. */
  write(name: string, document: string, signal?: AbortSignal): Promise<void>;
}
/** Without a provider what would be kept lives as long as the process. */
export const STATE_STORE: ServiceKey<StateStore> = serviceKey('state-store');

/** A private folder that stays from run to run, for plugins that keep files; provided by whoever was given one. */
export const KEPT_FOLDER: ServiceKey<string> = serviceKey('kept-folder');

/** Provided by the core: a config source says that its set may have changed. */
export interface ConfigChanges {
  changed(): void;
}
export const CONFIG_CHANGES: ServiceKey<ConfigChanges> = serviceKey('config-changes');

/** Provided by the `haproxy` judge: the binary that judges. */
export interface JudgeBinary {
  version(): Promise<string>;
  /** Starts it on rendered files, for tests that ask it; absent where the judge cannot. */
  readonly probe?: TrafficProbe;
}
export const JUDGE_BINARY: ServiceKey<JudgeBinary> = serviceKey('judge-binary');

/** A member of a global, for the list of names that templates have. */
export interface MemberDoc {
  readonly name: string;
  readonly doc: string;
}

/** What a template global is built from. Pure: equal inputs give an equal result. */
export interface GlobalInput {
  readonly view: StoreView;
  readonly config: MergedConfig;
  readonly settings: JsonObject;
  readonly fleet: FleetFacts;
  readonly contents: ContentReader;
}

/**
 * A name that templates see. `build` runs at most once a render, when a template first reads the name; providers keep
 * unchanged parts identical between renders (memo depends on it).
 */
export interface TemplateGlobal {
  readonly name: string;
  readonly doc: string;
  /** Undeclared members are load errors. */
  readonly members: readonly MemberDoc[];
  build(input: GlobalInput): object;
}

/** A function that templates may call by name. */
export interface TemplateHelper {
  readonly name: string;
  /** `name(a, b?) → type` and one sentence; listed in docs/templates.md for the built-in ones. */
  readonly signature: string;
  readonly doc: string;
  readonly minArgs: number;
  readonly maxArgs: number;
  call(...args: readonly unknown[]): unknown;
}

/** Provided by the core: plugins add names for templates during `setup`. */
export interface TemplateNames {
  global(global: TemplateGlobal): void;
  helper(helper: TemplateHelper): void;
}
export const TEMPLATE_NAMES: ServiceKey<TemplateNames> = serviceKey('template-names');
