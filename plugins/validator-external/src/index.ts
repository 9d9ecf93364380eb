import { API_VERSION, definePlugin } from '@haptic/core/contract';
import { ExternalJudge } from './judge.ts';
import { options } from './options.ts';
import { socketProblem } from './socket-problem.ts';
import {
  LONGEST_TIMEOUT_MS,
  VALIDATORS_KEY,
  validatorsOf,
  validatorsSchema,
  type Validator,
} from './validators.ts';

export { socketProblem } from './socket-problem.ts';
export { validatorsOf, validatorsSchema, type Validator } from './validators.ts';

/** Requests wait for their turn before their own time begins: one that waited, and then took as long as it may. */
const DEADLINE_MS = 2 * LONGEST_TIMEOUT_MS + 5_000;

/** The judge of kind `external`: asks the validators that the configuration declares, by protocol version 1. */
export default definePlugin({
  name: 'validator-external',
  apiVersion: API_VERSION,
  judge: 'external',
  config: { key: VALIDATORS_KEY, schema: validatorsSchema },
  options,
  setup({ name, hooks, clock, log, meter, health, onDispose }, { skip }) {
    const judge = new ExternalJudge({ clock, log, meter });
    onDispose(() => judge.close());
    let serving: readonly Validator[] = [];
    hooks.configAccepted.tap(name, (config) => {
      serving = validatorsOf(config);
      judge.measureOnly(serving.map((validator) => validator.name));
    });
    health('validators', async () => {
      const problems = serving.map(async ({ name, socketPath }) => {
        const problem = await socketProblem(socketPath, clock);
        return problem === undefined ? [] : [`${name}: ${problem}`];
      });
      return (await Promise.all(problems)).flat().join('; ') || undefined;
    });
    hooks.validate.tapPromise(
      { name, deadlineMs: DEADLINE_MS },
      async (candidate, findings, { signal, caller }) => {
        const skipped = caller === 'validate' ? skip : [];
        const validators = validatorsOf(candidate.config).filter(({ name }) => !skipped.includes(name));
        await judge.judge(validators, candidate, findings, signal);
      },
    );
  },
});
