import { atLeast } from '../haproxy/version.ts';

/** What one conversation may hold, in bytes. */
export interface CommandLimits {
  /** Of the line; HAProxy's buffer holds 16 KiB. */
  readonly line: number;
  /** Of the lines after it; before 3.4 they share the buffer with the line. */
  readonly payload: number;
}

export function commandLimits(version: string): CommandLimits {
  return { line: 15_000, payload: atLeast(version, 3, 4) ? 120_000 : 14_000 };
}
