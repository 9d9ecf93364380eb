import type { Terminal } from '../terminal.ts';
import type { Reporter } from './reporter.ts';

/** One JSON object a line, each with its `event`. */
export function jsonReporter({ out }: Pick<Terminal, 'out'>): Reporter {
  const event = (name: string, fields: object): void => out(JSON.stringify({ event: name, ...fields }));
  return {
    starting: () => event('starting', {}),
    serving: (serving) => event('serving', serving),
    applied: ({ plan, outcome, changes, durationMs }) =>
      event('applied', { planId: plan.id, ...outcome, changes, durationMs }),
    refused: (refused) => event('refused', refused),
    held: (held) => event('held', held),
    released: (released) => event('released', released),
    stopping: () => event('stopping', {}),
  };
}
