import { Command } from 'commander';
import { createLogger, describePlugins, type PluginDescription } from '@haptic/core/host';
import { compose } from '../compose.ts';
import { examples, shared } from '../flags.ts';
import { addRunPresetFlags, asidePreset, type RunPresetFlags } from '../run-preset.ts';
import type { Terminal } from '../terminal.ts';

interface PluginsFlags extends RunPresetFlags {
  readonly hostConfig?: string;
  readonly output: 'text' | 'json';
}

export function pluginsCommand(terminal: Terminal): Command {
  return addRunPresetFlags(new Command('plugins'))
    .description('List the plugins that `haptic run` loads: version, origin, order, hooks and options.')
    .addOption(shared.hostConfig())
    .addOption(shared.haproxy())
    .addOption(shared.output())
    .addHelpText(
      'after',
      examples([
        'haptic plugins',
        'haptic plugins --preset folders --output json --host-config haptic.config.yaml',
      ]),
    )
    .action((flags: PluginsFlags) => plugins(flags, terminal));
}

async function plugins(
  { hostConfig, output, ...flags }: PluginsFlags,
  { out, style }: Terminal,
): Promise<void> {
  const log = createLogger({ level: 'error', destination: process.stderr });
  await using controller = await compose({ preset: asidePreset(flags), hostConfig, log });
  const list = describePlugins(controller.host);
  if (output === 'json') out(JSON.stringify(list, undefined, 2));
  else for (const plugin of list) out(describe(plugin, style));
}

function describe(plugin: PluginDescription, style: Terminal['style']): string {
  const { name, position, origin, judge, hooks, services, after, options } = plugin;
  const rows = [
    ['from', `${origin.use}${origin.version === undefined ? '' : ` ${origin.version}`} (${origin.from})`],
    ['judge', judge ?? ''],
    ['hooks', hooks.join(', ')],
    ['offers', services.join(', ')],
    ['after', after.join(', ')],
    ['options', JSON.stringify(options)],
  ].filter(([, value]) => value !== '');
  const lines = rows.map(([label, value]) => `   ${style('quiet', label!.padEnd(8))} ${value}`);
  return [`${position}. ${style('strong', name)}`, ...lines].join('\n');
}
