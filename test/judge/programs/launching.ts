import { Launcher } from '../../../plugins/validator-haproxy/src/process/launcher.ts';

/** Has a launcher run a program for as long as it likes, and tells the launcher's process id. */
const [program = '', ...args] = process.argv.slice(2);
const launcher = new Launcher(0);
void launcher.run(program, args, {
  timeoutMs: 60_000,
  maxOutput: 1024,
  signal: new AbortController().signal,
});
console.log(launcher.pid);
