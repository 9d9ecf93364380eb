import { Command } from 'commander';
import { createLogger, stopSignal, type LogLevel } from '@haptic/core/host';
import { compose } from '../compose.ts';
import { examples, shared } from '../flags.ts';
import { runPreset } from '../presets.ts';
import { runController } from '../run-controller.ts';

interface RunFlags {
  readonly hostConfig?: string;
  readonly logLevel: LogLevel;
  readonly haproxy?: string;
}

export function runCommand(): Command {
  return new Command('run')
    .description(
      'Run the controller until it is told to stop. The host configuration names the plugin that provides the configuration and the HAProxy pods.',
    )
    .addOption(shared.hostConfig())
    .addOption(shared.haproxy())
    .addOption(shared.logLevel('info'))
    .addHelpText('after', examples(['haptic run --host-config /etc/haptic/haptic.config.yaml']))
    .action(run);
}

async function run({ hostConfig, logLevel, haproxy }: RunFlags): Promise<void> {
  using stop = stopSignal();
  const log = createLogger({ level: logLevel });
  try {
    const controller = await compose({ preset: runPreset({ haproxy }), hostConfig, log });
    await runController(controller, stop.signal, log);
  } finally {
    log.flush();
  }
}
