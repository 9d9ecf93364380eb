import { Command, InvalidArgumentError, Option } from 'commander';
import { createLogger, stopSignal, type LogLevel } from '@haptic/core/host';
import { compose } from '../compose.ts';
import { examples, mandatory, shared } from '../flags.ts';
import { localPreset } from '../presets.ts';
import { runController } from '../run-controller.ts';
import type { Terminal } from '../terminal.ts';
import { assertPortFree } from '../up/assert-port-free.ts';
import { jsonReporter } from '../up/json-reporter.ts';
import { logLines } from '../up/log-lines.ts';
import { reporterPlugin } from '../up/reporter-plugin.ts';
import { textReporter } from '../up/text-reporter.ts';

interface UpFlags {
  readonly resources: readonly string[];
  readonly config?: string;
  readonly httpPort: number;
  readonly hostConfig?: string;
  readonly haproxy?: string;
  readonly output: 'text' | 'json';
  readonly logLevel: LogLevel;
}

const LOOPBACK = '127.0.0.1';

export function upCommand(terminal: Terminal): Command {
  return new Command('up')
    .description(
      'Serve a folder of Kubernetes objects on this machine: controller, agent and HAProxy in one go.',
    )
    .addOption(mandatory(shared.resources()))
    .addOption(shared.config())
    .addOption(
      new Option('--http-port <port>', 'where HAProxy listens, on loopback')
        .argParser(portNumber)
        .default(8080)
        .env('HAPTIC_HTTP_PORT'),
    )
    .addOption(shared.haproxy())
    .addOption(shared.hostConfig())
    .addOption(shared.output())
    .addOption(shared.logLevel('warn'))
    .addHelpText(
      'after',
      examples([
        'haptic up --resources ./kubernetes',
        'haptic up --resources ./ingresses --resources ./endpoints --http-port 9000',
        'haptic up --resources ./kubernetes --config ./libraries --output json',
      ]),
    )
    .action((flags: UpFlags) => up(flags, terminal));
}

async function up(flags: UpFlags, terminal: Terminal): Promise<void> {
  using stop = stopSignal();
  const forPeople = flags.output === 'text';
  const reporter = forPeople ? textReporter(terminal) : jsonReporter(terminal);
  const log = createLogger({
    level: flags.logLevel,
    destination: forPeople ? logLines(terminal) : process.stderr,
    pretty: false,
  });
  await assertPortFree(LOOPBACK, flags.httpPort);
  reporter.starting();
  const settings = { listeners: { i80: { bind: `${LOOPBACK}:${flags.httpPort}` } } };
  const preset = localPreset(flags, { ...flags, settings, watch: true });
  const reporting = reporterPlugin(reporter, `http://localhost:${flags.httpPort}`);
  const controller = await compose({
    preset,
    hostConfig: flags.hostConfig,
    builtIn: [{ plugin: reporting.plugin }],
    log,
  });
  stop.signal.addEventListener('abort', () => reporter.stopping(), { once: true });
  reporting.watch(controller);
  await runController(controller, stop.signal, log);
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new InvalidArgumentError('expected a port from 1 to 65535');
  return port;
}
