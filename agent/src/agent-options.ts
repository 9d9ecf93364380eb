import type { Clock, Log } from '@haptic/core/contract';
import type { EnabledPlugin } from '@haptic/core/host';
import type { Durability } from './files/durable.ts';
import type { AgentHooks } from './hooks.ts';
import type { Step } from './steps.ts';

export interface AgentOptions {
  /** All that the agent writes is below it, and in the socket folder. */
  readonly baseDir: string;
  readonly socketDir: string;
  readonly version: string;
  /** `api` at least; `runAgent` has the built-in ones. */
  readonly plugins: readonly EnabledPlugin<AgentHooks>[];
  readonly log: Log;
  readonly clock?: Clock;
  /** Milliseconds, 60 s. */
  readonly reloadTimeout?: number;
  /** Shortest time from one reload to the next in milliseconds, 0. */
  readonly reloadIntervalMin?: number;
  /** How long a request may still read what was taken out of a map for later requests, milliseconds, 30 s. */
  readonly longestResponse?: number;
  /** `power` syncs every write to the disk; the default holds against the death of processes. */
  readonly durability?: Durability;
  /** How often to look whether HAProxy is another process, milliseconds, 1 s. */
  readonly watchInterval?: number;
  /** Told of each step of an apply. */
  readonly onStep?: (step: Step) => void;
}
