import type { LauncherAnswer, LauncherRequest } from './launcher-messages.ts';
import { runProcess } from './run-process.ts';

/** The launcher's process: runs what it is asked to, and ends, with all that it started, when who asks has ended. */
const running = new Map<number, AbortController>();

async function run({ id, binary, args, timeoutMs, maxOutput }: LauncherRequest & { kind: 'run' }) {
  const calledOff = new AbortController();
  running.set(id, calledOff);
  const limits = { timeoutMs, maxOutput, signal: calledOff.signal };
  const answer = await runProcess(binary, args, limits).then(
    (result): LauncherAnswer => ({ id, result }),
    (error: unknown): LauncherAnswer => ({ id, error: (error as Error).message }),
  );
  running.delete(id);
  // Who asked may be gone.
  if (process.connected) process.send?.(answer);
}

process.on('message', (request: LauncherRequest) => {
  if (request.kind === 'run') void run(request);
  else running.get(request.id)?.abort();
});
process.on('disconnect', () => {
  for (const calledOff of running.values()) calledOff.abort();
});
// It ends with who started it, and only then.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
