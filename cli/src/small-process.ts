/** Node.js for a process that lives beside another one: no compiled code, little garbage, and memory given back. */
const FLAGS = ['--lite-mode', '--max-semi-space-size=1', '--expose-gc'];

/** The C library would keep what it once needed for a large message. */
const MALLOC = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: '131072',
  MALLOC_MMAP_THRESHOLD_: '131072',
};

/**
 * Starts this program over, in the same process, with what keeps its memory small; docs/performance.md has the figures. Returns
 * where that is so already, or where the system has no way to do it.
 */
export function becomeSmall(main: string, args: readonly string[]): void {
  // Node.js reads TypeScript by WebAssembly, which is compiled code as well.
  const flags = main.endsWith('.ts') ? FLAGS.filter((flag) => flag !== '--lite-mode') : FLAGS;
  if (process.execve === undefined || flags.every((flag) => process.execArgv.includes(flag))) return;
  const env = { ...MALLOC, ...process.env };
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...flags, main, ...args], env);
}
