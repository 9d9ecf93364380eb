import type { z } from 'zod';
import { PluginError } from '../contract/errors.ts';
import type { PluginDefinition } from '../contract/plugin.ts';
import { checkDefinition, parseOptions, type Locate } from './definition.ts';
import { sortPlugins } from './order.ts';

/** Where a plugin comes from, for people. */
export interface PluginOrigin {
  /** As the configuration names it: a package or a path. */
  readonly use: string;
  readonly from: 'preset' | 'config' | 'built-in';
  readonly version?: string;
}

/** A plugin that was asked for, with the options as they were written. */
export interface EnabledPlugin<H> {
  readonly plugin: PluginDefinition<z.ZodType, H>;
  readonly options?: unknown;
  readonly origin?: PluginOrigin;
  /** Where a path of the options was written, for errors. */
  readonly locate?: Locate;
}

/** A plugin that can be set up: its options hold its schema's defaults. */
export interface ReadyPlugin<H> {
  readonly plugin: PluginDefinition<z.ZodType, H>;
  readonly options: unknown;
  readonly origin: PluginOrigin;
}

/** Judges everything that can be judged before any `setup` runs, and puts it in order. */
export function parseEnabled<H>(enabled: readonly EnabledPlugin<H>[]): ReadyPlugin<H>[] {
  const errors: PluginError[] = [];
  const ready = enabled.flatMap((entry): ReadyPlugin<H>[] => {
    const { options, locate, origin = { use: entry.plugin.name, from: 'built-in' } } = entry;
    try {
      const plugin = checkDefinition<H>(origin.use, entry.plugin);
      return [{ plugin, options: parseOptions(plugin, options, locate), origin }];
    } catch (error) {
      if (!(error instanceof PluginError)) throw error;
      errors.push(error);
      return [];
    }
  });
  throwAll(errors);
  checkConfigKeys(ready);
  return sortPlugins(ready);
}

/** One error as it is, several as one. */
export function throwAll(errors: readonly PluginError[]): void {
  if (errors.length === 1) throw errors[0]!;
  if (errors.length > 1) throw new AggregateError(errors, errors.map(({ message }) => message).join('\n'));
}

function checkConfigKeys<H>(ready: readonly ReadyPlugin<H>[]): void {
  const owners = new Map<string, string>();
  for (const { plugin } of ready) {
    if (plugin.config === undefined) continue;
    const { key } = plugin.config;
    const owner = owners.get(key);
    if (owner !== undefined) {
      throw new PluginError(
        'PLUGIN_SET',
        plugin.name,
        `owns the config key "${key}", as ${owner} does; disable one`,
      );
    }
    owners.set(key, plugin.name);
  }
}
