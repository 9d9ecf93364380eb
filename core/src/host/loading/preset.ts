import type { z } from 'zod';
import { PluginError } from '../../contract/errors.ts';
import type { PluginDefinition } from '../../contract/plugin.ts';
import { throwAll, type EnabledPlugin } from '../enabled.ts';
import type { ConfigEntry, HostConfig } from './host-config.ts';
import { importPlugin, resolvePlugin } from './import-plugin.ts';

/** One plugin that is shipped, as data: the program that hands it over is the only code that imports it. */
export interface PresetEntry<H> {
  /** Name of its package. */
  readonly use: string;
  readonly plugin: PluginDefinition<z.ZodType, H>;
  readonly options?: Readonly<Record<string, unknown>>;
  /** False for a plugin that is shipped but must be asked for. */
  readonly enabled?: boolean;
}

export interface Preset<H> {
  readonly version: string;
  /** In the order of their set-up. */
  readonly plugins: readonly PresetEntry<H>[];
}

interface Slot<H> extends EnabledPlugin<H> {
  readonly enabled: boolean;
}

/**
 * The preset with an operator's changes: an entry changes the plugin of the same name where it stands, option by option; a plugin
 * that the preset lacks follows behind.
 *
 * @throws PluginError; an AggregateError of them when several entries are wrong.
 */
export async function enabledPlugins<H>(
  preset: Preset<H>,
  config: HostConfig | undefined,
): Promise<EnabledPlugin<H>[]> {
  const slots = new Map(
    preset.plugins.map((entry) => [entry.plugin.name, presetSlot(entry, preset.version)]),
  );
  if (config !== undefined) await applyConfig(slots, preset, config);
  return [...slots.values()].filter(({ enabled }) => enabled);
}

function presetSlot<H>({ use, plugin, options, enabled = true }: PresetEntry<H>, version: string): Slot<H> {
  return { plugin, options: options ?? {}, enabled, origin: { use, from: 'preset', version } };
}

async function applyConfig<H>(
  slots: Map<string, Slot<H>>,
  preset: Preset<H>,
  config: HostConfig,
): Promise<void> {
  const found = await Promise.allSettled(config.plugins.map((entry) => slotOf(entry, preset, config.file)));
  const errors: PluginError[] = [];
  const changed = new Set<string>();
  for (const result of found) {
    if (result.status === 'rejected') {
      if (!(result.reason instanceof PluginError)) throw result.reason;
      errors.push(result.reason);
      continue;
    }
    const slot = result.value;
    if (slot === undefined) continue;
    const { name } = slot.plugin;
    if (changed.has(name)) errors.push(twice(name, config.file));
    changed.add(name);
    slots.set(name, merged(slots.get(name), slot));
  }
  throwAll(errors);
}

/** Undefined for a plugin that is neither shipped nor wanted: it is not even imported. */
async function slotOf<H>(entry: ConfigEntry, preset: Preset<H>, file: string): Promise<Slot<H> | undefined> {
  const { use, options, enabled, locate } = entry;
  const rest = { options: options ?? {}, enabled, locate };
  const shipped = preset.plugins.find((candidate) => candidate.use === use);
  if (shipped !== undefined) return { ...presetSlot(shipped, preset.version), ...rest };
  const known = preset.plugins.map((candidate) => candidate.use);
  if (!enabled) {
    resolvePlugin(use, file, known); // a misspelt name would leave on what was to be off
    return undefined;
  }
  const { plugin, version } = await importPlugin<H>(use, file, known);
  return { plugin, ...rest, origin: { use, from: 'config', ...(version === undefined ? {} : { version }) } };
}

function merged<H>(before: Slot<H> | undefined, change: Slot<H>): Slot<H> {
  return { ...change, options: { ...(before?.options as object), ...(change.options as object) } };
}

function twice(name: string, file: string): PluginError {
  return new PluginError('PLUGIN_ORDER', name, `is listed twice in ${file}; keep one entry`);
}
