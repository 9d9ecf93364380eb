import type { BigIntStats } from 'node:fs';
import { Refused, formatProblem, type Clock, type Log, type Problem } from '@haptic/core/contract';
import { readText } from './read-text.ts';
import { stampOf } from './stamp.ts';

/** How long a file must have been left alone before it is read: writers write in pieces. */
export const QUIET_MS = 8;
/** A missing file is most often about to be replaced. */
const ABSENT_QUIET_MS = 30;
/** Whoever never stops writing is read all the same. */
const LONGEST_WAIT_MS = 500;
/** An empty file is most often about to be written again, and believing it takes away all that it held. */
const EMPTY_QUIET_MS = LONGEST_WAIT_MS;

/** What a look at a file, or at all of them, found. */
export interface Look {
  /** Its last good value is another one, or it has none and something else is wrong with it. */
  readonly changed: boolean;
  /** It is in the middle of something: look again in so many milliseconds. */
  readonly waitMs?: number;
}

const UNCHANGED: Look = { changed: false };
const CHANGED: Look = { changed: true };

export interface TrackedFileOptions<T> {
  /** Reads a file's text. @throws Refused: the last good value of the file stays. */
  readonly parse: (path: string, text: string) => Promise<T>;
  readonly log: Log;
  readonly clock: Clock;
}

function problemsOf(path: string, error: unknown): readonly Problem[] {
  return error instanceof Refused
    ? error.problems
    : [{ where: path, message: `cannot be read: ${String(error)}` }];
}

/** One file with the last good value that was read from it. */
export class TrackedFile<T> {
  readonly #path: string;
  readonly #options: TrackedFileOptions<T>;
  /** Of what was last read; undefined: has to be read. */
  #stamp: string | undefined;
  #value: T | undefined;
  #problems: readonly Problem[] = [];
  #waitingSince: number | undefined;
  #missingSince: number | undefined;

  constructor(path: string, options: TrackedFileOptions<T>) {
    this.#path = path;
    this.#options = options;
  }

  get value(): T | undefined {
    return this.#value;
  }

  /** What is wrong with the file now. */
  get problems(): readonly Problem[] {
    return this.#problems;
  }

  /** The file is gone, perhaps only for the moment in which it is replaced. */
  get missing(): boolean {
    return this.#missingSince !== undefined;
  }

  /** The file is there. */
  async present(stats: BigIntStats): Promise<Look> {
    const wasMissing = this.missing;
    this.#missingSince = undefined;
    if (this.#stamp === stampOf(stats)) return wasMissing ? CHANGED : UNCHANGED;
    const waitMs = this.#mustWait(stats);
    return waitMs > 0 ? { changed: false, waitMs } : this.#read();
  }

  /** The file is not there; undefined: it has been gone for long enough to be forgotten. */
  absent(): Look | undefined {
    const now = this.#options.clock.now();
    this.#missingSince ??= now;
    const left = ABSENT_QUIET_MS - (now - this.#missingSince);
    return left > 0 ? { changed: false, waitMs: Math.ceil(left) } : undefined;
  }

  /** How long the file is still to be left alone: it was just written, perhaps not to its end. */
  #mustWait({ ctimeMs, size }: BigIntStats): number {
    const quiet = size === 0n ? EMPTY_QUIET_MS : QUIET_MS;
    const left = quiet - (this.#options.clock.wall() - Number(ctimeMs));
    // More than all of it: the clocks of the file system and of this machine differ.
    return left > quiet || this.#hasWaited() ? 0 : Math.ceil(left);
  }

  #hasWaited(): boolean {
    const now = this.#options.clock.now();
    this.#waitingSince ??= now;
    return now - this.#waitingSince >= LONGEST_WAIT_MS;
  }

  async #read(): Promise<Look> {
    try {
      const { text, stamp } = await readText(this.#path);
      if (stamp === undefined && !this.#hasWaited()) return { changed: false, waitMs: QUIET_MS };
      this.#stamp = stamp;
      this.#waitingSince = undefined;
      this.#value = await this.#options.parse(this.#path, text);
      this.#setProblems([]);
      return CHANGED;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
        return { changed: false, waitMs: QUIET_MS };
      const another = this.#setProblems(problemsOf(this.#path, error));
      return another && this.#value === undefined ? CHANGED : UNCHANGED;
    }
  }

  /** Says once what is wrong, and once that it no longer is; true when it is another thing than before. */
  #setProblems(problems: readonly Problem[]): boolean {
    const [before, now] = [this.#problems, problems].map((list) => list.map(formatProblem).join('\n'));
    this.#problems = problems;
    if (before === now) return false;
    const { log } = this.#options;
    // As loud as what it takes back needs: whoever sees only warnings and errors must see that this one is over.
    if (now === '') log.warn({ path: this.#path }, 'file is right again');
    else log.error({ path: this.#path, problem: now }, 'file is refused, its last good content stays');
    return true;
  }
}
