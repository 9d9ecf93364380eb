import { exchange } from './exchange.ts';

export interface Processes {
  readonly master: number;
  /** Reloads since the master started. */
  readonly reloads: number;
  /** True while the latest reload failed. */
  readonly failed: boolean;
  /** Current and old ones. */
  readonly workers: readonly number[];
}

/** @throws SocketFailure when no master answers. */
export async function showProcesses(path: string, signal?: AbortSignal): Promise<Processes | undefined> {
  // `quit` ends the conversation: the master's socket is always interactive.
  return parseProcesses(await exchange(path, 'show proc; quit', { timeoutMs: 5_000, signal }));
}

export function parseProcesses(text: string): Processes | undefined {
  const master = /^(\d+)\s+master\s+(\d+)(?: \[failed: (\d+)\])?/m.exec(text);
  if (master === null) return undefined;
  return {
    master: Number(master[1]),
    reloads: Number(master[2]),
    failed: Number(master[3] ?? 0) > 0,
    workers: [...text.matchAll(/^(\d+)\s+worker\s/gm)].map((row) => Number(row[1])),
  };
}

export type ReloadReply =
  | { readonly kind: 'loaded' }
  /** HAProxy's verdict, in its words. */
  | { readonly kind: 'refused'; readonly words: string }
  /** It loads for somebody else still, as for an agent that was killed, or has not loaded its first worker: to be asked again. */
  | { readonly kind: 'busy' }
  /** The connection ended without a verdict. */
  | { readonly kind: 'garbled' };

/** @throws SocketFailure when the answer could not be had: unknown, not refused. */
export async function requestReload(
  path: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<ReloadReply> {
  const isWhole = (answer: string): boolean => BUSY.test(answer);
  return parseReload(await exchange(path, 'reload', { timeoutMs, signal, isWhole }));
}

/** HAProxy 3.2 and 3.4, which leave the connection open; 3.0 answers nobody meanwhile. */
const BUSY = /^Success=0\n--\nAnother reload is still in progress\.\n/;

export function parseReload(text: string): ReloadReply {
  const verdict = /^Success=([01])\n(?:--\n)?/.exec(text);
  if (verdict === null) return { kind: 'garbled' };
  if (BUSY.test(text)) return { kind: 'busy' };
  if (verdict[1] === '1') return { kind: 'loaded' };
  return { kind: 'refused', words: errorWords(text.slice(verdict[0].length)) };
}

/** The lines of a start-up log that say what is wrong; all of them when none does. */
export function errorWords(log: string): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  const telling = lines.filter((line) => !/^\[(NOTICE|WARNING)\]/.test(line));
  return (telling.length > 0 ? telling : lines).join('\n').slice(0, 16_384);
}
