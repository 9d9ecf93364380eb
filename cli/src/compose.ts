import { resolve } from 'node:path';
import type { Hooks, Log } from '@haptic/core/contract';
import { createController, type Controller } from '@haptic/core/controller';
import { enabledPlugins, readHostConfig, type EnabledPlugin, type Preset } from '@haptic/core/host';
import { ownedKeys } from './owned-keys.ts';
import { clusterPreset } from './presets.ts';

export interface Composition {
  readonly preset: Preset<Hooks>;
  /** Exactly this file; without it a `haptic.config.yaml|json` of the working directory. */
  readonly hostConfig?: string | undefined;
  /** The program's own, behind the others. */
  readonly builtIn?: readonly EnabledPlugin<Hooks>[];
  readonly log: Log;
}

/** The preset with the operator's changes, set up. Nothing runs yet. */
export async function compose({ preset, hostConfig, builtIn = [], log }: Composition): Promise<Controller> {
  const where = hostConfig === undefined ? { folder: process.cwd() } : { file: resolve(hostConfig) };
  const plugins = await enabledPlugins(preset, await readHostConfig(where));
  // A config that is written for a cluster is validated, rendered and tried out elsewhere.
  const foreignKeys = ownedKeys(clusterPreset({}, {}));
  return await createController({ plugins: [...plugins, ...builtIn], log, foreignKeys });
}
