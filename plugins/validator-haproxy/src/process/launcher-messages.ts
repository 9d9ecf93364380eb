import type { ProcessResult } from './run-process.ts';

/** To the launcher. Nothing else is ever sent, and by nobody else: both ends are of one version. */
export type LauncherRequest =
  | {
      readonly kind: 'run';
      readonly id: number;
      readonly binary: string;
      readonly args: readonly string[];
      readonly timeoutMs: number;
      readonly maxOutput: number;
    }
  | { readonly kind: 'call-off'; readonly id: number };

/** From the launcher: one for each run. */
export type LauncherAnswer =
  | { readonly id: number; readonly result: ProcessResult }
  /** It could not be started. */
  | { readonly id: number; readonly error: string };
