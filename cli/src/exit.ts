import { CommanderError } from 'commander';
import { PluginError, Refused, formatProblem, z } from '@haptic/core/contract';
import type { Terminal } from './terminal.ts';

/** What every command's exit code means. */
export const EXIT = { fine: 0, negative: 1, unusable: 2 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command with a negative verdict that it has already printed. */
export class Negative extends Error {
  override readonly name = 'Negative';
}

/** Ends a command that could not do its work, and has said why. */
export class Unusable extends Error {
  override readonly name = 'Unusable';
}

/** One clear error for whatever ended a command, and the exit code it means. */
export function reportFailure(error: unknown, terminal: Terminal): ExitCode {
  if (error instanceof Negative) return EXIT.negative;
  if (error instanceof Unusable) return EXIT.unusable;
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.unusable;
  terminal.err(describe(error, terminal));
  return EXIT.unusable;
}

function describe(error: unknown, terminal: Terminal): string {
  const label = terminal.style('bad', 'error:');
  if (error instanceof Refused) {
    const { problems } = error;
    const head = problems.length > 1 ? `${label} ${problems.length} problems\n` : `${label} `;
    return head + problems.map(formatProblem).join('\n');
  }
  if (error instanceof PluginError)
    return `${label} ${error.message} (${error.code}, see docs/errors.md)${causes(error)}`;
  if (error instanceof Error) return `${label} ${error.message}${causes(error)}`;
  return `${label} ${String(error)}`;
}

/** The chain of causes that say more than the error above them. */
function causes(error: Error): string {
  const lines: string[] = [];
  let seen = error.message;
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof z.ZodError) break; // said already, in words
    if (!seen.includes(cause.message)) lines.push(`\n  because: ${cause.message}`);
    seen += cause.message;
  }
  return lines.join('');
}
