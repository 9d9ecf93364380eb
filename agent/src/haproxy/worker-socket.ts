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

/** What asks a worker who it is. */
export const WHO = { line: 'show info; show env HAPTIC_TEXT', commands: 2 } as const;

/** @throws SocketFailure when no worker answers. */
export async function workerIdentity(path: string, signal?: AbortSignal): Promise<WorkerIdentity> {
  return parseIdentity(path, blocks(await exchange(path, WHO.line, { timeoutMs: 5_000, signal })));
}

/** @throws SocketFailure when it is no answer to `WHO`. */
export function parseIdentity(path: string, [info = '', stamp = '']: readonly string[]): WorkerIdentity {
  const field = (name: string): string => new RegExp(`^${name}: ?(.*)$`, 'm').exec(info)?.[1]?.trim() ?? '';
  const pid = Number(field('Pid'));
  if (!Number.isInteger(pid) || pid <= 0) throw new SocketFailure(`${path}: \`show info\` without a Pid`);
  return {
    pid,
    version: field('Version').replace(/-.*$/, ''),
    startedAt: Number(field('Start_time_sec') || 0),
    textId: /^HAPTIC_TEXT=(.*)$/m.exec(stamp)?.[1],
  };
}
