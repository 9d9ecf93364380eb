import { execa } from 'execa';

/** How the steps of an installation report and stop. */
export interface Run {
  log(line: string): void;
  readonly signal: AbortSignal | undefined;
}

/** Runs a program to its end and returns what it printed. @throws Error with the last lines of its output. */
export async function command(
  run: Run,
  file: string,
  args: readonly string[],
  options: { readonly cwd?: string } = {},
): Promise<string> {
  const result = await execa(file, args, {
    ...options,
    ...(run.signal === undefined ? {} : { cancelSignal: run.signal }),
    stdin: 'ignore',
    all: true,
    reject: false,
    env: { LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 600_000,
  });
  run.signal?.throwIfAborted();
  if (!result.failed) return result.stdout;
  const words = result.all === '' ? result.shortMessage : result.all.split('\n').slice(-5).join(' | ');
  throw new Error(
    `${file} ${args.at(0) === '-qq' ? '' : (args[0] ?? '')} failed: ${words}`.replace('  ', ' '),
  );
}
