import type { Rendered } from '@haptic/core/contract';
import type { Controller } from '@haptic/core/controller';
import type { TestObserver } from '@haptic/core/validation-tests';
import { EXIT, type ExitCode } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { validatorLine, validatorStatus, type ValidatorStatus } from '../validator-status.ts';
import { dumpRendered } from './dump-rendered.ts';
import { junitReport } from './report-junit.ts';
import { reportLines } from './report-text.ts';

export interface ValidateRun {
  readonly controller: Controller;
  readonly tests: readonly string[] | undefined;
  readonly skipValidators: readonly string[];
  /** What nobody could judge is no failure. */
  readonly allowSkip: boolean;
  readonly output: 'text' | 'json' | 'junit';
  readonly dumpRendered: string | undefined;
}

type Validated = Awaited<ReturnType<Controller['validate']>>;

function observer(renders: Map<string, Rendered>, { progress }: Terminal): TestObserver {
  return {
    rendered: (name, rendered) => void renders.set(name, rendered),
    finished: ({ name }, { done, all }) => progress?.(`${done}/${all} ${name}`),
  };
}

function print(
  { config, report }: Validated,
  validators: readonly ValidatorStatus[],
  { output, allowSkip }: ValidateRun,
  { out, style }: Terminal,
): void {
  const { digest, overrides } = config;
  switch (output) {
    case 'json':
      out(JSON.stringify({ digest, overrides, ...report, validators }));
      return;
    case 'junit':
      out(junitReport(report, validators, allowSkip));
      return;
    case 'text': {
      for (const { kind, name, of, by } of overrides)
        out(`${kind} "${name}" of ${of} is overridden by ${by}`);
      for (const line of reportLines(report, style)) out(line);
      for (const validator of validators) out(validatorLine(validator, style));
      if (report.unjudged > 0 && !allowSkip)
        out('what was not judged is no success; --allow-skip takes it for one');
    }
  }
}

/**
 * Validates once and prints the report.
 *
 * @throws Refused for what cannot be used, Cancelled when called off.
 */
export async function runOnce(run: ValidateRun, terminal: Terminal, signal: AbortSignal): Promise<ExitCode> {
  const { controller, tests, skipValidators, allowSkip, dumpRendered: dump } = run;
  const renders = new Map<string, Rendered>();
  let validated: Validated;
  try {
    validated = await controller.validate(signal, { only: tests, observer: observer(renders, terminal) });
  } finally {
    terminal.progress?.(undefined);
  }
  const { config, report } = validated;
  const validators = await validatorStatus(config, skipValidators);
  if (dump !== undefined) await dumpRendered(dump, renders, terminal.out);
  print(validated, validators, run, terminal);
  const negative =
    report.failed > 0 ||
    (report.unjudged > 0 && !allowSkip) ||
    validators.some(({ status }) => status === 'not judged');
  return negative ? EXIT.negative : EXIT.fine;
}
