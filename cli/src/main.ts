import { EXIT, reportFailure } from './exit.ts';
import { createProgram } from './program.ts';
import { becomeSmall } from './small-process.ts';
import { createTerminal, type Terminal } from './terminal.ts';

/** Runs one command line and sets the process's exit code; returns when everything that it started has ended. */
export async function main(args: readonly string[], terminal: Terminal = createTerminal()): Promise<void> {
  try {
    const program = await createProgram(terminal, args);
    await program.parseAsync([...args], { from: 'user' });
    process.exitCode ??= EXIT.fine;
  } catch (error) {
    process.exitCode = reportFailure(error, terminal);
  }
}

if (import.meta.main) {
  const args = process.argv.slice(2);
  becomeSmall(import.meta.filename, args);
  await main(args);
}
