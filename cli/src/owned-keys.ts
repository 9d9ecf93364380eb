import type { OwnedKey } from '@haptic/core/config';
import type { Hooks } from '@haptic/core/contract';
import type { Preset } from '@haptic/core/host';

/** The keys of the config kind that the plugins of a preset own. */
export function ownedKeys(preset: Preset<Hooks>): readonly OwnedKey[] {
  return preset.plugins.flatMap(({ plugin }) =>
    plugin.config === undefined ? [] : [{ plugin: plugin.name, ...plugin.config }],
  );
}
