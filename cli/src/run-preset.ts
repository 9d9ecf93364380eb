import type { Command } from 'commander';
import type { Hooks } from '@haptic/core/contract';
import type { Preset } from '@haptic/core/host';
import { shared } from './flags.ts';
import { clusterPreset, foldersPreset, type ClusterChoice, type JudgeChoice } from './presets.ts';

/** What `haptic run` is told about where it runs. */
export interface RunPresetFlags extends ClusterChoice, Pick<JudgeChoice, 'haproxy'> {
  readonly preset: 'cluster' | 'folders';
}

export function addRunPresetFlags(command: Command): Command {
  return command
    .addOption(shared.preset())
    .addOption(shared.kubeconfig())
    .addOption(shared.context())
    .addOption(shared.namespace())
    .addOption(shared.configName());
}

export function runPreset({ preset, haproxy, ...cluster }: RunPresetFlags): Preset<Hooks> {
  return preset === 'cluster' ? clusterPreset({ haproxy }, cluster) : foldersPreset({ haproxy });
}
