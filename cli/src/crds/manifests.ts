import type { Hooks } from '@haptic/core/contract';
import type { Preset } from '@haptic/core/host';
import { customResourceDefinition, kindGroup } from '@haptic/kube';
import { stringify } from 'yaml';
import { ownedKeys } from '../owned-keys.ts';
import { configKind, libraryKind, publishedKind } from './config-kinds.ts';

/** The CustomResourceDefinitions by the names of their files, as the chart ships them. */
export function crdManifests(preset: Preset<Hooks>): Readonly<Record<string, string>> {
  const kinds = [configKind(ownedKeys(preset)), libraryKind, publishedKind];
  return Object.fromEntries(
    kinds.map((kind) => [
      `${kind.plural}.yaml`,
      stringify(customResourceDefinition(kindGroup, kind), {
        lineWidth: 0,
        aliasDuplicateObjects: false,
        version: '1.1',
      }),
    ]),
  );
}
