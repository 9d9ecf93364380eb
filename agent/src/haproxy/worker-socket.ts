import { blocks, exchange, SocketFailure } from './exchange.ts';

/** Which process answers on the worker socket, and what it loaded. */
export interface WorkerIdentity {
  readonly pid: number;
  readonly version: string;
  /** Seconds since the epoch. */
  readonly startedAt: number;
  /** The stamp of the configuration; undefined when the configuration has none. */
  readonly textId: string | undefined;
}

/** @throws SocketFailure when no worker answers. */
export async function workerIdentity(path: string, signal?: AbortSignal): Promise<WorkerIdentity> {
  const answer = await exchange(path, 'show info; show env HAPTIC_TEXT', { timeoutMs: 5_000, signal });
  const [info, stamp] = blocks(answer);
  const fields = new Map(
    (info ?? '').split('\n').map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const pid = Number(fields.get('Pid'));
  if (!Number.isInteger(pid) || pid <= 0) throw new SocketFailure(`${path}: \`show info\` without a Pid`);
  return {
    pid,
    version: (fields.get('Version') ?? '').replace(/-.*$/, ''),
    startedAt: Number(fields.get('Start_time_sec') ?? 0),
    textId: /^HAPTIC_TEXT=(.*)$/m.exec(stamp ?? '')?.[1],
  };
}
