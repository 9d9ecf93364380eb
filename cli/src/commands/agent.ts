import { Command, Option } from 'commander';
import {
  AGENT_NAME,
  askState,
  CONTROLLER_NAME,
  parentGone,
  readToken,
  runAgent,
  type AskSecrets,
} from '@haptic/agent';
import type { AgentState } from '@haptic/agent/protocol';
import { createLogger, stopSignal, type LogLevel } from '@haptic/core/host';
import {
  agentFolders,
  agentTransport,
  exitWithParent,
  healthAddress,
  transportSecrets,
  type FolderFlags,
  type TransportFlags,
} from '../agent-flags.ts';
import { describeState } from '../agent-state.ts';
import { Negative } from '../exit.ts';
import { examples, milliseconds, shared } from '../flags.ts';
import type { Terminal } from '../terminal.ts';
import { packageVersion } from '../version.ts';

interface AgentFlags extends FolderFlags, TransportFlags {
  readonly controllerName: string;
  readonly health?: { readonly host: string; readonly port: number };
  readonly reloadIntervalMin: number;
  readonly reloadTimeout: number;
  readonly longestResponse: number;
  readonly fsync: boolean;
  readonly exitWithParent: boolean;
  readonly logLevel: LogLevel;
}

interface AskFlags extends TransportFlags {
  readonly agentName: string;
  readonly output: 'text' | 'json';
}

interface StateFlags extends AskFlags {
  readonly verify: boolean;
  readonly plan: boolean;
}

export function agentCommand(terminal: Terminal): Command {
  const command = new Command('agent').description(
    'Run the agent beside a HAProxy: it writes the files that the controller sends and reloads.',
  );
  for (const option of [...ownOptions(), ...agentTransport(), ...agentFolders()]) command.addOption(option);
  return command
    .addHelpText(
      'after',
      examples([
        'haptic agent --base-dir /var/lib/haptic --socket-dir /run/haptic --token-file /run/secrets/token',
        'haptic agent --base-dir BASE --socket-dir RUN --listen 0.0.0.0:5555 --tls-cert tls.crt --tls-key tls.key --tls-ca ca.crt',
      ]),
    )
    .addCommand(stateCommand(terminal))
    .addCommand(healthCommand(terminal))
    .enablePositionalOptions()
    .allowExcessArguments()
    .action(run);
}

/** Besides where it listens and where its files are. */
function ownOptions(): Option[] {
  return [
    new Option('--controller-name <name>', "TLS: the DNS name that a controller's certificate must have")
      .default(CONTROLLER_NAME)
      .env('HAPTIC_CONTROLLER_NAME'),
    new Option('--health <host:port>', 'plain HTTP: /healthz and /readyz for probes, and /metrics')
      .argParser(healthAddress)
      .env('HAPTIC_HEALTH'),
    new Option('--reload-interval-min <duration>', 'shortest time from one reload to the next')
      .argParser(milliseconds)
      .default(2_000, '2s')
      .env('HAPTIC_RELOAD_INTERVAL_MIN'),
    new Option('--reload-timeout <duration>', 'how long a reload may take')
      .argParser(milliseconds)
      .default(60_000, '60s')
      .env('HAPTIC_RELOAD_TIMEOUT'),
    new Option(
      '--longest-response <duration>',
      'how long a request may still read what was taken out of a map for later ones',
    )
      .argParser(milliseconds)
      .default(30_000, '30s')
      .env('HAPTIC_LONGEST_RESPONSE'),
    new Option('--fsync', 'survive a power cut, not only the death of processes')
      .default(false)
      .env('HAPTIC_FSYNC'),
    exitWithParent(),
    shared.logLevel('info'),
  ];
}

function stateCommand({ out, style }: Terminal): Command {
  return asking('state', "Print an agent's state; with --verify exit with 1 when something drifted.")
    .option('--verify', 'read every file again and compare, the worker too', false)
    .option('--plan', 'with the stored plan', false)
    .addHelpText(
      'after',
      examples([
        'haptic agent state --token-file /run/secrets/token',
        'haptic agent state --token-file /run/secrets/token --verify --output json',
      ]),
    )
    .action(async ({ verify, plan, output, ...flags }: StateFlags, command: Command) => {
      const state = await askState(flags.listen, askSecrets(flags, command), { verify, plan });
      out(output === 'json' ? JSON.stringify(state, undefined, 2) : describeState(state, style));
      if ((state.drift ?? []).length > 0) throw new Negative();
    });
}

function healthCommand({ out }: Terminal): Command {
  return asking(
    'health',
    'Exit with 0 when HAProxy runs what was applied, with 1 when it does not, with 2 when the agent does not answer; for probes that run a command.',
  )
    .addHelpText('after', examples(['haptic agent health --token-file /run/secrets/token']))
    .action(async ({ output, ...flags }: AskFlags, command: Command) => {
      const { healthy, message } = healthOf(await askState(flags.listen, askSecrets(flags, command)));
      out(output === 'json' ? JSON.stringify({ healthy, message }) : message);
      if (!healthy) throw new Negative();
    });
}

function healthOf({ worker, inStep, applied }: AgentState): { healthy: boolean; message: string } {
  if (worker === null) return { healthy: false, message: 'HAProxy does not answer' };
  if (!inStep) return { healthy: false, message: 'HAProxy does not run what was applied' };
  if (applied !== null) return { healthy: true, message: `runs ${applied}` };
  return { healthy: false, message: 'HAProxy runs the bootstrap configuration, nothing was applied yet' };
}

/** A command that asks a running agent. With TLS it needs the certificate of a controller. */
function asking(name: string, description: string): Command {
  const command = new Command(name).description(description);
  for (const option of agentTransport()) command.addOption(option);
  return command
    .addOption(shared.output())
    .addOption(
      new Option('--agent-name <name>', "TLS: the DNS name that the agent's certificate must have")
        .default(AGENT_NAME)
        .env('HAPTIC_AGENT_NAME'),
    );
}

function askSecrets({ agentName, ...flags }: Omit<AskFlags, 'output'>, command: Command): AskSecrets {
  const { tokenFile, files } = transportSecrets(flags, command);
  return {
    token: tokenFile === undefined ? undefined : readToken({ file: tokenFile }),
    tls: files && { ...files, agentName },
  };
}

async function run(flags: AgentFlags, command: Command): Promise<void> {
  const { tokenFile, files } = transportSecrets(flags, command);
  using stop = stopSignal();
  const log = createLogger({ level: flags.logLevel });
  const ends = [stop.signal, ...(flags.exitWithParent ? [parentGone(process.stdin)] : [])];
  await runAgent({
    baseDir: flags.baseDir,
    socketDir: flags.socketDir,
    listen: flags.listen,
    ...(tokenFile !== undefined && { token: { file: tokenFile } }),
    ...(files !== undefined && { tls: { ...files, controllerName: flags.controllerName } }),
    version: packageVersion,
    reloadIntervalMin: flags.reloadIntervalMin,
    reloadTimeout: flags.reloadTimeout,
    longestResponse: flags.longestResponse,
    durability: flags.fsync ? 'power' : 'process',
    log,
    signal: AbortSignal.any(ends),
    ...(flags.health !== undefined && { health: flags.health }),
  });
  log.flush();
}
