import { Command, Option } from 'commander';
import { parentGone, runHaproxy } from '@haptic/agent';
import { createLogger, stopSignal, type LogLevel } from '@haptic/core/host';
import { agentFolders, exitWithParent, type FolderFlags } from '../agent-flags.ts';
import { examples, milliseconds, shared } from '../flags.ts';

interface HaproxyFlags extends FolderFlags {
  readonly haproxy?: string;
  readonly drain: number;
  readonly bootstrapBind?: readonly string[];
  readonly exitWithParent: boolean;
  readonly logLevel: LogLevel;
}

export function haproxyCommand(): Command {
  const command = new Command('haproxy')
    .description(
      "Run HAProxy on the agent's file tree, and keep it running: on what is applied, else on the last known good, else on a bootstrap configuration that answers 503. The entry point of the HAProxy container.",
    )
    .addOption(shared.haproxy())
    .addOption(
      new Option('--drain <duration>', 'how long requests may finish when it stops')
        .argParser(milliseconds)
        .default(30_000, '30s')
        .env('HAPTIC_DRAIN'),
    )
    .addOption(
      new Option(
        '--bootstrap-bind <address...>',
        'addresses that answer 503 until the first plan is loaded',
      ).env('HAPTIC_BOOTSTRAP_BIND'),
    )
    .addOption(exitWithParent())
    .addOption(shared.logLevel('info'))
    .addHelpText('after', examples(['haptic haproxy --base-dir /var/lib/haptic --socket-dir /run/haptic']));
  for (const option of agentFolders()) command.addOption(option);
  return command.action(run);
}

async function run(flags: HaproxyFlags): Promise<void> {
  using stop = stopSignal();
  const log = createLogger({ level: flags.logLevel });
  await runHaproxy({
    binary: flags.haproxy ?? 'haproxy',
    baseDir: flags.baseDir,
    socketDir: flags.socketDir,
    drain: flags.drain,
    bootstrapBinds: flags.bootstrapBind ?? [],
    log,
    signal: stop.signal,
    ...(flags.exitWithParent && { parentGone: parentGone(process.stdin) }),
  });
  log.flush();
}
