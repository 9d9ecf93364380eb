import { Cancelled, Refused, type Problem } from '@haptic/core/contract';
import { FolderWatches } from './folder-watches.ts';
import { listFiles, type Listing, type Root } from './list-files.ts';
import { QUIET_MS, TrackedFile, type Look, type TrackedFileOptions } from './tracked-file.ts';

/** Where something moves all the time, it is looked at all the same. */
const LONGEST_QUIET_MS = 50;
/** Events are lost by network file systems and when their queue overflows; looking costs little. */
const LOOK_AGAIN_MS = 10_000;
/** The same where folders cannot be watched, or are not there. */
const POLL_MS = 1000;

export interface FileTreeOptions<T> extends TrackedFileOptions<T> {
  readonly roots: readonly Root[];
  /** False: files are read once, at the start. */
  readonly watch: boolean;
}

/** A file's last good value. */
export interface FileValue<T> {
  readonly value: T;
  readonly missing: boolean;
}

function refuseBroken({ broken }: Listing): void {
  if (broken.size > 0) throw new Refused(Array.from(broken, ([where, message]) => ({ where, message })));
}

/**
 * The files below some folders, each with its last good value. Looks at all of them whenever something moves, and compares: what
 * happened in between, and in which order it was told, does not matter.
 */
export class FileTree<T> {
  readonly #options: FileTreeOptions<T>;
  readonly #files = new Map<string, TrackedFile<T>>();
  /** What was passed over at the last look, and why. */
  #passedOver: ReadonlyMap<string, string> = new Map();
  #rootMissing = false;
  readonly #watches: FolderWatches;
  #lookAgainMs = LOOK_AGAIN_MS;
  #events = 0;
  #alarm = new AbortController();

  constructor(options: FileTreeOptions<T>) {
    this.#options = options;
    const onEvent = (): void => {
      this.#events++;
      this.#alarm.abort();
    };
    this.#watches = new FolderWatches(onEvent, (error) => this.#poll(error));
  }

  /** By path, in order. Files that never were right are not among them. */
  values(): ReadonlyMap<string, FileValue<T>> {
    const values = [...this.#files].flatMap(([path, { value, missing }]) => {
      return value === undefined ? [] : [[path, { value, missing }] as const];
    });
    return new Map(values.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** What is wrong with files that have no good value to fall back on. */
  unread(): readonly Problem[] {
    return [...this.#files.values()].flatMap(({ value, problems }) => (value === undefined ? problems : []));
  }

  /** @throws Refused when a root does not exist. */
  async requireRoots(): Promise<void> {
    refuseBroken(await listFiles(this.#options.roots, () => {}));
  }

  /** Reads everything once. @throws Refused when a root does not exist. */
  async start(signal: AbortSignal): Promise<void> {
    const listing = await this.#list();
    refuseBroken(listing);
    for (let look = await this.#compare(listing); look.waitMs !== undefined; look = await this.#look()) {
      await this.#options.clock.sleep(look.waitMs, signal);
    }
  }

  /** Calls `onChange` whenever a value has changed; ends at the signal. */
  async follow(onChange: () => void, signal: AbortSignal): Promise<void> {
    try {
      for (let waitMs = this.#lookAgainMs; ;) {
        if (await this.#rest(waitMs, signal)) await this.#quiet(signal);
        const look = await this.#look();
        signal.throwIfAborted();
        if (look.changed) onChange();
        waitMs = look.waitMs ?? (this.#rootMissing ? POLL_MS : this.#lookAgainMs);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#watches.close();
    }
  }

  #poll(error: unknown): void {
    if (this.#lookAgainMs === POLL_MS) return;
    this.#lookAgainMs = POLL_MS;
    this.#options.log.warn({ error, everyMs: POLL_MS }, 'folders cannot be watched and are polled');
  }

  /** Sleeps until an event, which is true, or for so long. An event since the last look counts. */
  async #rest(ms: number, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.clock.sleep(ms, AbortSignal.any([signal, this.#alarm.signal]));
      return false;
    } catch (error) {
      if (signal.aborted || !(error instanceof Cancelled)) throw error;
      return true;
    }
  }

  async #quiet(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const since = clock.now();
    for (let seen = -1; seen !== this.#events && clock.now() - since < LONGEST_QUIET_MS;) {
      seen = this.#events;
      await clock.sleep(QUIET_MS, signal);
    }
  }

  async #list(): Promise<Listing> {
    // Before reading: an event while reading must lead to another look.
    this.#alarm = new AbortController();
    const { roots, watch } = this.#options;
    const listing = await listFiles(roots, watch ? this.#watches.visit : () => {});
    this.#watches.endUnseen();
    return listing;
  }

  async #look(): Promise<Look> {
    return this.#compare(await this.#list());
  }

  async #compare(listing: Listing): Promise<Look> {
    this.#report(listing);
    const looks: Look[] = [];
    for (const [path, stats] of listing.files) {
      const file = this.#files.get(path) ?? new TrackedFile<T>(path, this.#options);
      this.#files.set(path, file);
      looks.push(await file.present(stats));
    }
    for (const [path, file] of this.#files) {
      if (!listing.files.has(path) && !this.#isHidden(path)) looks.push(this.#lookAtAbsent(path, file));
    }
    const waits = looks.flatMap(({ waitMs }) => waitMs ?? []);
    const changed = looks.some((look) => look.changed);
    return waits.length === 0 ? { changed } : { changed, waitMs: Math.min(...waits) };
  }

  #lookAtAbsent(path: string, file: TrackedFile<T>): Look {
    const look = file.absent();
    if (look !== undefined) return look;
    this.#files.delete(path);
    return { changed: file.value !== undefined || file.problems.length > 0 };
  }

  /** Says once what is passed over, and once when that has an end: both as loud, so that who hears the one hears the other. */
  #report({ ignored, broken }: Listing): void {
    const { log } = this.#options;
    const before = this.#passedOver;
    this.#rootMissing = broken.size > 0;
    this.#passedOver = new Map([...ignored, ...broken]);
    for (const [path, why] of this.#passedOver) {
      if (before.get(path) === why) continue;
      if (broken.has(path)) log.error({ path, why }, 'source cannot be read, what it last held stays');
      else log.warn({ path, why }, 'passed over');
    }
    for (const path of before.keys()) {
      if (!this.#passedOver.has(path)) log.warn({ path }, 'no longer passed over');
    }
  }

  /** What cannot be looked at takes nothing with it: a folder that is gone as a whole is more likely unmounted than meant. */
  #isHidden(path: string): boolean {
    return [...this.#passedOver.keys()].some((over) => path === over || path.startsWith(`${over}/`));
  }
}
