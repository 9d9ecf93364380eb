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

export function runPreset(flags: RunPresetFlags): Preset<Hooks> {
  const { preset, haproxy, ...cluster } = flags;
  return preset === 'cluster' ? clusterPreset({ haproxy }, cluster) : foldersPreset({ haproxy });
}

/** The same where it stands beside one that runs: what listens on a port of everybody's takes a free one of this machine. */
export function asidePreset(flags: RunPresetFlags): Preset<Hooks> {
  const { plugins, ...preset } = runPreset(flags);
  const aside = { host: '127.0.0.1', port: 0 };
  return {
    ...preset,
    plugins: plugins.map((entry) =>
      LISTENING.includes(entry.use) ? { ...entry, options: { ...entry.options, ...aside } } : entry,
    ),
  };
}

const LISTENING = ['@haptic/health', '@haptic/metrics', '@haptic/admission'];
