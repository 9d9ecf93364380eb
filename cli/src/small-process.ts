/** What keeps the memory of a process small; docs/performance.md has the figures. */
interface Memory {
  /** Of Node.js, `--name` or `--name=value`. */
  readonly flags: readonly string[];
  /** Of the C library. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Lives beside every HAProxy: no compiled code, little garbage, and what one large message took is given back. It comes in pieces of
 * 64 KiB: those have to be mapped one by one, since among other allocations they would leave holes that stay.
 */
const AGENT: Memory = {
  flags: ['--lite-mode', '--max-semi-space-size=1', '--expose-gc'],
  env: { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '32768' },
};

/** Reads all of a cluster at its start: what is young then is old soon, and room for much of it is room for garbage. */
const CONTROLLER: Memory = { flags: ['--max-semi-space-size=8'], env: { MALLOC_ARENA_MAX: '2' } };

const COMMANDS: ReadonlyMap<string, Memory> = new Map([
  ['agent', AGENT],
  ['run', CONTROLLER],
]);

/** The settings of this command that nobody has made already. */
export function missingFlags(
  command: string | undefined,
  main: string,
  { execArgv, nodeOptions }: { readonly execArgv: readonly string[]; readonly nodeOptions: string },
): readonly string[] {
  const given = new Set([...execArgv, ...nodeOptions.split(/\s+/)].map(nameOf));
  // Node.js reads TypeScript by WebAssembly, which is compiled code as well.
  if (main.endsWith('.ts')) given.add('--lite-mode');
  return COMMANDS.get(command ?? '')?.flags.filter((flag) => !given.has(nameOf(flag))) ?? [];
}

/** V8 takes underscores for dashes. */
function nameOf(flag: string): string {
  return flag.split('=')[0]!.replaceAll('_', '-');
}

/**
 * Starts this program over, in the same process, with what keeps its memory small. Returns where that is so already, where the
 * command has no such settings, or where the system has no way to do it. What an operator has set stays.
 */
export function becomeSmall(main: string, args: readonly string[]): void {
  const [command] = args;
  const flags = missingFlags(command, main, {
    execArgv: process.execArgv,
    nodeOptions: process.env['NODE_OPTIONS'] ?? '',
  });
  if (process.execve === undefined || flags.length === 0) return;
  const env = { ...COMMANDS.get(command!)!.env, ...process.env };
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...flags, main, ...args], env);
}
