import { EXIT, reportFailure } from './exit.ts';
import { createProgram } from './program.ts';
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

if (import.meta.main) await main(process.argv.slice(2));
