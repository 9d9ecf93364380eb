import { z } from 'zod';
import type { Clock, Log, Rendered, RetainedProfile, StateStore } from '../contract/index.ts';
import { NOTHING_RETAINED, retainProfiles, type Hash, type ProfileRetention } from '../plan/index.ts';
import { KeptDocument } from './kept-document.ts';

/** Characters of all kept texts; those that were used last come first. */
const BUDGET = 512 * 1024;
/** A backend comes and goes more often than it matters after a restart. */
const QUIET_MS = 30_000;

const Document = z.strictObject({
  version: z.literal(1),
  profiles: z.array(
    z.strictObject({
      name: z.string(),
      base: z.string(),
      text: z.string(),
      core: z.string(),
      /** Milliseconds since the epoch. */
      lastUse: z.number(),
    }),
  ),
});

/** Secret ones are not kept: what a restart forgets costs one reload. */
function describeRetention({ profiles, lastUse }: ProfileRetention): string {
  const newest = profiles
    .filter(({ secret }) => !secret)
    .map(({ name, base, text, core }) => ({ name, base, text, core, lastUse: lastUse.get(name) ?? 0 }))
    .sort((a, b) => b.lastUse - a.lastUse);
  let room = BUDGET;
  const kept = newest.filter(({ text }) => (room -= text.length) >= 0);
  return JSON.stringify({ version: 1, profiles: kept } satisfies z.input<typeof Document>);
}

/** @throws for what is no such document */
function parseRetention(text: string, hash: Hash): ProfileRetention {
  const kept = Document.parse(JSON.parse(text)).profiles.filter((profile) => isWhole(profile, hash));
  const profiles = kept
    .map(({ name, base, text, core }): RetainedProfile =>
      Object.freeze({ name, base, text, core, secret: false }),
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    profiles: Object.freeze(profiles),
    lastUse: new Map(kept.map(({ name, lastUse }) => [name, lastUse])),
  };
}

/** A profile is named by what it says. */
function isWhole({ name, base, text }: Pick<RetainedProfile, 'name' | 'base' | 'text'>, hash: Hash): boolean {
  const head = `defaults ${name} from ${base}\n`;
  return text.startsWith(head) && name === `be-${hash(`${base}\n${text.slice(head.length)}`).slice(0, 16)}`;
}

export interface KeptProfilesParts {
  readonly hash: Hash;
  readonly clock: Clock;
  readonly log: Log;
  /** Without one a restart forgets them. */
  readonly store: StateStore | undefined;
}

/** The profiles that backends had of late, from one render to the next and over a restart. */
export class KeptProfiles {
  readonly #parts: KeptProfilesParts;
  readonly #document: KeptDocument;
  #retention: ProfileRetention = NOTHING_RETAINED;

  constructor(parts: KeptProfilesParts) {
    this.#parts = parts;
    this.#document = new KeptDocument({ ...parts, name: 'profiles', quietMs: QUIET_MS });
  }

  get all(): readonly RetainedProfile[] {
    return this.#retention.profiles;
  }

  /** Why what was kept is still waited for. */
  get unread(): Error | undefined {
    return this.#document.unread;
  }

  /** Takes up what was kept. What is broken is left behind: it costs reloads, nothing else. @throws Cancelled */
  async restore(signal: AbortSignal): Promise<void> {
    const text = await this.#document.read(signal);
    if (text === undefined) return;
    try {
      this.#retention = parseRetention(text, this.#parts.hash);
    } catch (error) {
      this.#parts.log.error({ err: error, document: 'profiles' }, 'kept state is broken and was left behind');
    }
  }

  accepted(rendered: Rendered): void {
    const { clock, hash } = this.#parts;
    const { profiles } = this.#retention;
    this.#retention = retainProfiles(this.#retention, rendered, clock.wall(), hash);
    if (this.#retention.profiles !== profiles) this.#put();
  }

  /** Nobody has them, so they must not be what holds up the others. True if there were any. */
  forget(): boolean {
    if (this.#retention.profiles.length === 0) return false;
    this.#retention = NOTHING_RETAINED;
    this.#put();
    return true;
  }

  async close(): Promise<void> {
    await this.#document.close();
  }

  #put(): void {
    this.#document.put(() => describeRetention(this.#retention));
  }
}
