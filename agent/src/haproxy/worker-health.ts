import { blocks, exchange, SocketFailure } from './exchange.ts';

/** How the worker has fared since it started: all that telling a sane one from one that went wrong takes. */
export interface WorkerHealth {
  readonly pid: number;
  /** Requests that frontends took. */
  readonly requests: number;
  /** Of their responses those with a status of 500 and above. */
  readonly serverErrors: number;
}

/** Frontends alone: of backends there are thousands. */
const COMMAND = 'show info; show stat -1 1 -1';

/** @throws SocketFailure when no worker answers. */
export async function workerHealth(path: string, signal?: AbortSignal): Promise<WorkerHealth> {
  const answer = await exchange(path, COMMAND, { timeoutMs: 5_000, signal });
  const [info = '', stat = ''] = blocks(answer);
  const pid = Number(/^Pid: (\d+)$/m.exec(info)?.[1]);
  if (!Number.isInteger(pid)) throw new SocketFailure(`${path}: \`show info\` without a Pid`);
  const [head = '', ...rows] = stat.split('\n');
  const names = head.replace(/^# /, '').split(',');
  const sum = (name: string): number => {
    const column = names.indexOf(name);
    return rows.reduce((total, row) => total + Number(row.split(',')[column] ?? 0), 0);
  };
  return { pid, requests: sum('req_tot'), serverErrors: sum('hrsp_5xx') };
}
