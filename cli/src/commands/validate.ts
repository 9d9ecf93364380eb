import { Command, Option } from 'commander';
import { Refused } from '@haptic/core/contract';
import { createLogger, stopSignal, type LogLevel } from '@haptic/core/host';
import { compose } from '../compose.ts';
import { EXIT, Negative, Unusable } from '../exit.ts';
import { examples, shared } from '../flags.ts';
import { onceOnlyPreset } from '../presets.ts';
import type { Terminal } from '../terminal.ts';
import { STDOUT } from '../validate/dump-rendered.ts';
import { runOnce, type ValidateRun } from '../validate/run-once.ts';
import { runOnChanges } from '../validate/watch.ts';

interface ValidateFlags {
  readonly config?: string;
  readonly test?: readonly string[];
  readonly skipValidator?: readonly string[];
  readonly allowSkip?: true;
  readonly dumpRendered?: string;
  readonly watch?: true;
  readonly hostConfig?: string;
  readonly haproxy?: string;
  readonly output: ValidateRun['output'];
  readonly logLevel: LogLevel;
}

export function validateCommand(terminal: Terminal): Command {
  return new Command('validate')
    .description(
      "Check a configuration and run its tests on their fixtures. Exit code 1: tests failed; 2: the configuration can't be used.",
    )
    .addOption(shared.config())
    .addOption(new Option('--test <name...>', 'only these tests'))
    .addOption(
      new Option(
        '--skip-validator <name...>',
        'external validators that are not asked here; the summary lists them as skipped',
      ),
    )
    .addOption(
      new Option('--allow-skip', 'succeed though claims about HAProxy could not be judged for want of one'),
    )
    .addOption(
      new Option(
        '--dump-rendered <dir>',
        'write what each test renders, readable for you alone; "-" prints it, without secrets',
      ),
    )
    .addOption(new Option('--watch', 'run again when files change, until Ctrl-C'))
    .addOption(shared.haproxy())
    .addOption(shared.hostConfig())
    .addOption(shared.output(['text', 'json', 'junit']))
    .addOption(shared.logLevel('warn'))
    .addHelpText(
      'after',
      examples([
        'haptic validate',
        'haptic validate --config ./libraries --test my-route',
        'haptic validate --config ./libraries --watch',
        'haptic validate --skip-validator policy',
        'haptic validate --output junit > report.xml',
      ]),
    )
    .action((flags: ValidateFlags) => validate(flags, terminal));
}

async function validate(flags: ValidateFlags, terminal: Terminal): Promise<void> {
  const { skipValidator = [], test, allowSkip = false, watch = false, dumpRendered, output } = flags;
  if (dumpRendered === STDOUT && output !== 'text')
    throw new Refused(`--dump-rendered - prints texts, which do not go with --output ${output}`);
  using stop = stopSignal();
  const log = createLogger({ level: flags.logLevel, destination: process.stderr });
  await using controller = await compose({
    preset: onceOnlyPreset({ ...flags, skipValidators: skipValidator, haproxyOptional: true }, flags, watch),
    hostConfig: flags.hostConfig,
    log,
  });
  const run = { controller, tests: test, skipValidators: skipValidator, allowSkip, output, dumpRendered };
  const once = () => runOnce(run, terminal, stop.signal);
  const onChange = (listener: () => void): void => controller.onConfigChange(listener);
  const code = watch
    ? await runOnChanges({ run: once, onChange, signal: stop.signal }, terminal)
    : await once();
  if (code === EXIT.negative) throw new Negative();
  if (code === EXIT.unusable) throw new Unusable();
}
