import { Command, InvalidArgumentError, Option } from 'commander';
import { askState, parentGone, readToken, runAgent, type ListenAddress } from '@haptic/agent';
import { createLogger, stopSignal, type LogLevel } from '@haptic/core/host';
import { agentFolders, exitWithParent, type FolderFlags } from '../agent-flags.ts';
import { Negative } from '../exit.ts';
import { examples, mandatory, milliseconds, shared } from '../flags.ts';
import type { Terminal } from '../terminal.ts';
import { packageVersion } from '../version.ts';

interface AgentFlags extends FolderFlags {
  readonly listen: ListenAddress;
  readonly tokenFile: string;
  readonly health?: { readonly host: string; readonly port: number };
  readonly reloadIntervalMin: number;
  readonly reloadTimeout: number;
  readonly fsync: boolean;
  readonly exitWithParent: boolean;
  readonly logLevel: LogLevel;
}

interface AskFlags {
  readonly listen: ListenAddress;
  readonly tokenFile: string;
}

export function agentCommand(terminal: Terminal): Command {
  const command = new Command('agent')
    .description('Run the agent beside a HAProxy: it writes the files that the controller sends and reloads.')
    .addOption(listen())
    .addOption(tokenFile())
    .addOption(
      new Option('--health <host:port>', 'plain HTTP for probes: /healthz and /readyz')
        .argParser(hostAndPort)
        .env('HAPTIC_HEALTH'),
    )
    .addOption(
      new Option('--reload-interval-min <duration>', 'shortest time from one reload to the next')
        .argParser(milliseconds)
        .default(2_000, '2s')
        .env('HAPTIC_RELOAD_INTERVAL_MIN'),
    )
    .addOption(
      new Option('--reload-timeout <duration>', 'how long a reload may take')
        .argParser(milliseconds)
        .default(60_000, '60s')
        .env('HAPTIC_RELOAD_TIMEOUT'),
    )
    .addOption(
      new Option('--fsync', 'survive a power cut, not only the death of processes')
        .default(false)
        .env('HAPTIC_FSYNC'),
    )
    .addOption(exitWithParent())
    .addOption(shared.logLevel('info'))
    .addHelpText(
      'after',
      examples([
        'haptic agent --base-dir /var/lib/haptic --socket-dir /run/haptic --token-file /run/secrets/token',
      ]),
    );
  for (const option of agentFolders()) command.addOption(option);
  command.addCommand(stateCommand(terminal)).addCommand(healthCommand(terminal));
  return command.action(run);
}

function stateCommand({ out }: Terminal): Command {
  return new Command('state')
    .description("Print an agent's state as JSON.")
    .addOption(listen())
    .addOption(tokenFile())
    .option('--verify', 'read every file again and compare', false)
    .option('--plan', 'with the stored plan', false)
    .action(
      async ({
        listen: address,
        tokenFile: file,
        verify,
        plan,
      }: AskFlags & { verify: boolean; plan: boolean }) => {
        const state = await askState(address, readToken({ file }), { verify, plan });
        out(JSON.stringify(state, undefined, 2));
        if ((state.drift ?? []).length > 0) throw new Negative();
      },
    );
}

function healthCommand({ out }: Terminal): Command {
  return new Command('health')
    .description(
      'Exit with 0 when HAProxy runs what was applied, else with 1; for probes that run a command.',
    )
    .addOption(listen())
    .addOption(tokenFile())
    .action(async ({ listen: address, tokenFile: file }: AskFlags) => {
      const { worker, inStep, applied } = await askState(address, readToken({ file }));
      out(
        worker === null
          ? 'HAProxy does not answer'
          : inStep
            ? `runs ${applied}`
            : 'HAProxy does not run what was applied',
      );
      if (worker === null || !inStep) throw new Negative();
    });
}

async function run(flags: AgentFlags): Promise<void> {
  using stop = stopSignal();
  const log = createLogger({ level: flags.logLevel });
  const ends = [stop.signal, ...(flags.exitWithParent ? [parentGone(process.stdin)] : [])];
  await runAgent({
    baseDir: flags.baseDir,
    socketDir: flags.socketDir,
    listen: flags.listen,
    token: { file: flags.tokenFile },
    version: packageVersion,
    reloadIntervalMin: flags.reloadIntervalMin,
    reloadTimeout: flags.reloadTimeout,
    durability: flags.fsync ? 'power' : 'process',
    log,
    signal: AbortSignal.any(ends),
    ...(flags.health !== undefined && { health: flags.health }),
  });
  log.flush();
}

function listen(): Option {
  return new Option('--listen <address>', 'unix:PATH, or HOST:PORT of the loopback interface')
    .argParser(listenAddress)
    .default({ host: '127.0.0.1', port: 5555 }, '127.0.0.1:5555')
    .env('HAPTIC_LISTEN');
}

function tokenFile(): Option {
  return mandatory(
    new Option('--token-file <file>', 'the bearer token that callers must show').env('HAPTIC_TOKEN_FILE'),
  );
}

function listenAddress(text: string): ListenAddress {
  return text.startsWith('unix:') ? { socketPath: text.slice('unix:'.length) } : hostAndPort(text);
}

function hostAndPort(text: string): { readonly host: string; readonly port: number } {
  const found = /^(\[(?<v6>[0-9a-f:.]+)\]|(?<host>[^:[\]]+)):(?<port>\d{1,5})$/i.exec(text)?.groups;
  const port = Number(found?.['port']);
  if (found === undefined || port > 65_535) throw new InvalidArgumentError('expected HOST:PORT');
  return { host: found['v6'] ?? found['host']!, port };
}
