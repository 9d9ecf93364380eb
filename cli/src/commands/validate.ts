import { Command, Option } from 'commander';
import type { TestReport, TestResult } from '@haptic/core/validation-tests';
import { createLogger, stopSignal, type LogLevel } from '@haptic/core/host';
import { compose } from '../compose.ts';
import { Negative } from '../exit.ts';
import { examples, shared } from '../flags.ts';
import { onceOnlyPreset } from '../presets.ts';
import type { Style, Terminal } from '../terminal.ts';
import { validatorLine, validatorStatus } from '../validator-status.ts';

interface ValidateFlags {
  readonly config?: string;
  readonly test?: readonly string[];
  readonly skipValidator?: readonly string[];
  readonly hostConfig?: string;
  readonly haproxy?: string;
  readonly output: 'text' | 'json';
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
    .addOption(shared.haproxy())
    .addOption(shared.hostConfig())
    .addOption(shared.output())
    .addOption(shared.logLevel('warn'))
    .addHelpText(
      'after',
      examples([
        'haptic validate',
        'haptic validate --config ./libraries --test my-route',
        'haptic validate --skip-validator policy',
        'haptic validate --output json',
      ]),
    )
    .action((flags: ValidateFlags) => validate(flags, terminal));
}

async function validate(flags: ValidateFlags, { out, style }: Terminal): Promise<void> {
  using stop = stopSignal();
  const log = createLogger({ level: flags.logLevel, destination: process.stderr });
  await using controller = await compose({
    preset: onceOnlyPreset({ ...flags, skipValidators: flags.skipValidator }, flags),
    hostConfig: flags.hostConfig,
    log,
  });
  const { config, report } = await controller.validate(stop.signal, { only: flags.test });
  const validators = await validatorStatus(config, flags.skipValidator ?? []);
  if (flags.output === 'json') {
    const { digest, overrides } = config;
    out(JSON.stringify({ digest, overrides, ...report, validators }));
  } else {
    for (const { kind, name, of, by } of config.overrides)
      out(`${kind} "${name}" of ${of} is overridden by ${by}`);
    for (const line of reportLines(report, style)) out(line);
    for (const validator of validators) out(validatorLine(validator, style));
  }
  if (report.failed > 0 || validators.some(({ status }) => status === 'not judged')) throw new Negative();
}

function reportLines({ tests, passed, failed, skipped, durationMs }: TestReport, style: Style): string[] {
  const summary = `${passed} passed, ${failed} failed, ${skipped} skipped (${Math.round(durationMs)} ms)`;
  return [
    ...tests.flatMap((test) => testLines(test, style)),
    `the configuration is valid; tests: ${summary}`,
  ];
}

function testLines({ name, source, status, reason, assertions }: TestResult, style: Style): string[] {
  const tone = { passed: 'good', failed: 'bad', skipped: 'warn', unjudged: 'bad' } as const;
  const head = `${style(tone[status], status)} ${name} (${source})${reason === undefined ? '' : `: ${reason}`}`;
  // What fails several assertions is told once, below the last of them.
  const byFailure = Map.groupBy(
    assertions.filter(({ failure }) => failure !== undefined),
    ({ failure }) => failure!,
  );
  const failures = [...byFailure].flatMap(([failure, failed]) => [
    ...failed.map(
      ({ type, target, description }) => `  ${description ?? [type, target].filter(Boolean).join(' ')}`,
    ),
    failure.replaceAll(/^/gm, '    '),
  ]);
  return [head, ...failures];
}
