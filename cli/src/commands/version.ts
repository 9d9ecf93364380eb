import { Command } from 'commander';
import { API_VERSION } from '@haptic/core/contract';
import { shared } from '../flags.ts';
import type { Terminal } from '../terminal.ts';
import { packageVersion } from '../version.ts';

export function versionCommand(terminal: Terminal): Command {
  return new Command('version')
    .description('Print the versions of the program, of Node.js and of the plugin API.')
    .addOption(shared.output())
    .action(({ output }: { output: 'text' | 'json' }) => {
      const versions = { version: packageVersion, node: process.versions.node, pluginApi: API_VERSION };
      if (output === 'json') terminal.out(JSON.stringify(versions));
      else
        terminal.out(
          `haptic ${versions.version} (Node.js ${versions.node}, plugin API ${versions.pluginApi})`,
        );
    });
}
