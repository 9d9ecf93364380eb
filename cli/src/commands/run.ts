import { Command, Option } from 'commander';
import { createLogger, stopSignal, type LogLevel } from '@haptic/core/host';
import { compose } from '../compose.ts';
import { examples, milliseconds, shared } from '../flags.ts';
import { runController } from '../run-controller.ts';
import { addRunPresetFlags, runPreset, type RunPresetFlags } from '../run-preset.ts';

interface RunFlags extends RunPresetFlags {
  readonly shutdownDelay: number;
  readonly hostConfig?: string;
  readonly logLevel: LogLevel;
}

export function runCommand(): Command {
  return addRunPresetFlags(new Command('run'))
    .description(
      'Run the controller until it is told to stop: over the API of a cluster, or over the folders that the host configuration names.',
    )
    .addOption(shared.hostConfig())
    .addOption(shared.haproxy())
    .addOption(
      new Option('--shutdown-delay <duration>', 'how long to go on after readiness was taken back')
        .argParser(milliseconds)
        .default(0, '0s')
        .env('HAPTIC_SHUTDOWN_DELAY'),
    )
    .addOption(shared.logLevel('info'))
    .addHelpText(
      'after',
      examples([
        'haptic run --namespace haptic --config-name haptic',
        'haptic run --preset folders --host-config /etc/haptic/haptic.config.yaml',
      ]),
    )
    .action(run);
}

async function run({ hostConfig, logLevel, shutdownDelay, ...flags }: RunFlags): Promise<void> {
  using stop = stopSignal();
  const log = createLogger({ level: logLevel });
  try {
    const controller = await compose({ preset: runPreset(flags), hostConfig, log });
    await runController(controller, stop.signal, log, shutdownDelay);
  } finally {
    log.flush();
  }
}
