import { Refused, didYouMean, type MergedConfig } from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';
import { socketProblem, validatorsOf } from '@haptic/validator-external';
import type { Style } from './terminal.ts';

/** What an external validator had to do with a validation: a test may fail by its words, or because it is not there. */
export type ValidatorStatus =
  | { readonly name: string; readonly status: 'reachable' | 'skipped' }
  | { readonly name: string; readonly status: 'not judged'; readonly problem: string };

/** Of every validator that a configuration declares. @throws Refused for a skipped one that it does not. */
export async function validatorStatus(
  config: MergedConfig,
  skipped: readonly string[],
): Promise<readonly ValidatorStatus[]> {
  const validators = validatorsOf(config);
  const names = validators.map(({ name }) => name);
  const unknown = skipped.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    const message = (name: string): string => `no validator "${name}"${didYouMean(name, names)}`;
    throw new Refused(unknown.map((name) => ({ where: '--skip-validator', message: message(name) })));
  }
  return await Promise.all(
    validators.map(async ({ name, socketPath }): Promise<ValidatorStatus> => {
      if (skipped.includes(name)) return { name, status: 'skipped' };
      const problem = await socketProblem(socketPath, systemClock);
      return problem === undefined ? { name, status: 'reachable' } : { name, status: 'not judged', problem };
    }),
  );
}

export function validatorLine(validator: ValidatorStatus, style: Style): string {
  const { name, status } = validator;
  const tone = { reachable: 'good', skipped: 'warn', 'not judged': 'bad' } as const;
  const why =
    validator.status === 'not judged'
      ? `: ${validator.problem}; start it, or leave it out with --skip-validator ${name}`
      : '';
  return `validator ${name}: ${style(tone[status], status)}${why}`;
}
