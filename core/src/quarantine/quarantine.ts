import {
  describeRef,
  type Clock,
  type Log,
  type Meter,
  type QuarantineChange,
  type QuarantinedObject,
  type StateStore,
  type StoreView,
} from '../contract/index.ts';
import type { Hash } from '../plan/index.ts';
import type { RenderSubject } from '../pipeline/index.ts';
import { KeptDocument } from '../state/kept-document.ts';
import { Substitutions } from '../store/index.ts';
import { describeQuarantine, parseQuarantine } from './document.ts';
import { Draft } from './draft.ts';
import { isGone, report, saysElse, type Entry } from './entry.ts';
import { HeldGauge } from './held-gauge.ts';
import { keyOf, Revisions } from './identity.ts';
import { KnownRevisions } from './known-revisions.ts';
import { Offenders } from './offenders.ts';
import { basisOf, Reference } from './reference.ts';
import type { SecurityFieldsOfKinds } from './security-fields.ts';
import { settledBy, type Settled } from './settled.ts';
import { Situation } from './situation.ts';

export interface QuarantineParts {
  readonly hash: Hash;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter?: Meter;
  readonly security: SecurityFieldsOfKinds;
  /** Without one the quarantine lives as long as the process. */
  readonly store: StateStore | undefined;
  readonly onChange: (change: QuarantineChange) => void;
}

/** Marks of accepted contents only matter at a restart, and change with every endpoint. */
const REFERENCE_QUIET_MS = 30_000;

/**
 * Watched objects that somebody refuses, so that everybody else's changes go on: each is replaced by its last accepted revision, or its
 * routes answer 503. One that says something else is tried again; deleting it always takes effect.
 */
export class Quarantine {
  readonly #parts: QuarantineParts;
  readonly #revisions: Revisions;
  readonly #offenders: Offenders;
  readonly #document: KeptDocument;
  readonly #known: KeptDocument;
  #entries: ReadonlyMap<string, Entry> = new Map();
  /** Contents of repeated offenders that were tried by themselves and passed. */
  readonly #passed = new Map<string, string>();
  #reference: Reference;
  #lost: ReadonlySet<string> = new Set();
  /** By the view that is served. */
  readonly #kept = new WeakMap<StoreView, Settled>();
  readonly #substitutions = new Substitutions();
  readonly #gauge: HeldGauge;

  constructor(parts: QuarantineParts) {
    const { hash, clock, store, log } = parts;
    this.#parts = parts;
    this.#gauge = new HeldGauge(parts.meter);
    this.#revisions = new Revisions(hash);
    this.#reference = new Reference(this.#revisions);
    this.#offenders = new Offenders(clock);
    this.#document = new KeptDocument({ name: 'quarantine', store, clock, log, quietMs: 0 });
    this.#known = new KeptDocument({ name: 'accepted', store, clock, log, quietMs: REFERENCE_QUIET_MS });
  }

  /**
   * Takes up what was kept; nothing may be rendered before. Waits for a store that does not answer. A document that can not be read is
   * reported and left behind: then all objects are judged anew, as they are before anything is deployed in any case.
   *
   * @throws Cancelled
   */
  async restore(signal: AbortSignal): Promise<void> {
    const { log, store, hash } = this.#parts;
    if (store === undefined)
      log.info({}, 'no plugin keeps state: a restart forgets accepted revisions of held objects');
    const kept = await this.#document.read(signal);
    const known = await this.#known.read(signal);
    this.#parse('accepted', known, (text) => {
      this.#reference = new Reference(this.#revisions, KnownRevisions.parse(text, hash));
    });
    this.#parse('quarantine', kept, (text) => {
      this.#change(new Map(this.#entriesIn(text)), {});
    });
  }

  /**
   * Takes up what a predecessor kept since, at the beginning of a term: what it had refused must not be tried on the pods again. What
   * is held here alone stays so.
   *
   * @throws Cancelled
   */
  async takeUp(signal: AbortSignal): Promise<void> {
    const kept = await this.#document.read(signal);
    this.#parse('quarantine', kept, (text) => {
      const fresh = this.#entriesIn(text).filter(
        ([key, { refusedAt }]) => refusedAt > (this.#entries.get(key)?.refusedAt ?? -Infinity),
      );
      if (fresh.length > 0) this.#change(new Map([...this.#entries, ...fresh]), {});
    });
  }

  #entriesIn(text: string): readonly (readonly [key: string, entry: Entry])[] {
    const { entries, offences } = parseQuarantine(text);
    this.#offenders.restore(offences);
    return entries.map((entry) => [keyOf(entry.watch, entry.object), entry]);
  }

  /** Another one whenever anything is held otherwise. */
  get holds(): object {
    return this.#entries;
  }

  /** Why what was kept is still waited for. */
  get unread(): Error | undefined {
    return this.#document.unread ?? this.#known.unread;
  }

  /** Everything that is held. */
  get held(): readonly QuarantinedObject[] {
    return [...this.#entries].map(([key, entry]) => report(entry, this.#revisions, this.#lost.has(key)));
  }

  /**
   * The view that is served: every held object replaced. Also what an admission judges a proposal on.
   *
   * @returns the view itself while nothing is held
   */
  effective(subject: Pick<RenderSubject, 'view' | 'config' | 'fleet'>): StoreView {
    return this.draft(subject).view;
  }

  /**
   * Begins to find out who is to be held for a view.
   *
   * @param trial Keys of `trials` that are let in.
   */
  draft(
    { view, config, fleet }: Pick<RenderSubject, 'view' | 'config' | 'fleet'>,
    trial: ReadonlySet<string> = new Set(),
  ): Draft {
    const { holds, tried } = this.#situation(view).resolve(trial);
    return new Draft(
      { view, config, basis: basisOf(config, fleet), holds, tried, trial },
      {
        revisions: this.#revisions,
        security: this.#parts.security,
        substitutions: this.#substitutions,
        reference: this.#reference,
        now: this.#parts.clock.wall(),
      },
    );
  }

  /**
   * From now on what the draft holds is held, and what it let in is let out as soon as its view is accepted.
   *
   * @returns what was not held before
   */
  keep(draft: Draft): readonly QuarantinedObject[] {
    this.#kept.set(draft.view, settledBy(draft));
    if (draft.fresh.size === 0) return [];
    const next = new Map(this.#entries);
    const added: Entry[] = [];
    const changed: Entry[] = [];
    for (const [key, entry] of draft.fresh) {
      // Another draft was kept meanwhile, which saw something newer.
      const known = next.get(key);
      if (known !== draft.before(key)) continue;
      if (known === undefined) added.push(entry);
      else if (saysElse(known, entry)) changed.push(entry);
      next.set(key, entry);
    }
    this.#countOffences([...added, ...changed]);
    this.#change(next, { added, changed });
    return added.map((entry) => this.#report(entry));
  }

  /**
   * Every judge passed the view: it is what is good now. Whoever calls has seen to it that nothing newer has passed: revisions of views
   * do not tell, since one with objects replaced is made later than the view below it.
   */
  accept(subject: Pick<RenderSubject, 'view' | 'config' | 'fleet'>): void {
    const { view, config, fleet } = subject;
    const settled = this.#kept.get(view);
    if (settled !== undefined) this.#release(settled);
    const basis = basisOf(config, fleet);
    this.#reference = this.#reference.with({ view, basis });
    this.#forgetPassed();
    this.#known.put(() => KnownRevisions.describe(view, basis, this.#revisions, this.#parts.hash));
  }

  /** Lets go what the draft let in and every judge passed, and what is there no more. */
  release(draft: Draft): void {
    this.#release(settledBy(draft));
  }

  #release({ passed, view }: Settled): void {
    const next = new Map(this.#entries);
    const mended: Entry[] = [];
    const deleted: Entry[] = [];
    for (const entry of passed) {
      const key = keyOf(entry.watch, entry.object);
      // Held again meanwhile, for what it says by now.
      if (next.get(key) !== entry) continue;
      next.delete(key);
      mended.push(entry);
    }
    for (const [key, entry] of next) {
      if (!isGone(entry, view)) continue;
      next.delete(key);
      deleted.push(entry);
    }
    if (mended.length + deleted.length > 0) this.#change(next, { mended, deleted });
  }

  /** What waits to be tried by itself, beside the reconciles: see `Situation`. */
  trials(subject: Pick<RenderSubject, 'view' | 'config' | 'fleet'>): ReadonlySet<string> {
    return this.#situation(subject.view).due(basisOf(subject.config, subject.fleet));
  }

  /** Milliseconds until something may be tried by itself; undefined while nothing waits. */
  nextTrial(subject: Pick<RenderSubject, 'view' | 'config' | 'fleet'>): number | undefined {
    return this.#situation(subject.view).nextDue(basisOf(subject.config, subject.fleet));
  }

  /** The trial is over: what it let in and nobody refused goes out with the next reconcile, the rest waits again. */
  tried(draft: Draft, trial: ReadonlySet<string>, verdict: 'passed' | 'refused'): void {
    const { view, basis } = draft.subject;
    for (const { watch, object } of this.#situation(view).objectsOf(trial)) {
      const key = keyOf(watch, object.metadata);
      if (verdict === 'passed' && !draft.fresh.has(key)) this.#passed.set(key, this.#revisions.of(object));
    }
    if (verdict === 'passed') {
      this.keep(draft);
      this.release(draft);
      return;
    }
    const now = this.#parts.clock.wall();
    const next = new Map(this.#entries);
    for (const key of trial) {
      const entry = next.get(key);
      if (entry !== undefined)
        next.set(key, Object.freeze({ ...entry, refusedAt: now, basis, doubtful: false }));
    }
    this.#change(next, {});
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    await Promise.all([this.#document.close(), this.#known.close()]);
  }

  /** What an accepted view has is no longer to be remembered apart. */
  #forgetPassed(): void {
    const { view } = this.#reference;
    for (const [key, revision] of this.#passed) {
      const [watch = '', namespace = '', name = ''] = key.split('\0');
      const object =
        view?.watches.includes(watch) === true ? view.watch(watch).get(namespace, name) : undefined;
      if (object === undefined || this.#revisions.of(object) === revision) this.#passed.delete(key);
    }
  }

  #situation(view: StoreView): Situation {
    return new Situation({
      view,
      entries: this.#entries,
      offenders: this.#offenders,
      passed: this.#passed,
      reference: this.#reference,
      revisions: this.#revisions,
      now: this.#parts.clock.wall(),
    });
  }

  #report(entry: Entry): QuarantinedObject {
    return report(entry, this.#revisions, this.#lost.has(keyOf(entry.watch, entry.object)));
  }

  /** One for each namespace, however many of its objects are refused together; the same content refused again is none. */
  #countOffences(fresh: readonly Entry[]): void {
    const edits = fresh.filter(
      (entry) => this.#entries.get(keyOf(entry.watch, entry.object))?.revision !== entry.revision,
    );
    for (const [namespace, entries] of Map.groupBy(edits, ({ object }) => object.namespace)) {
      this.#offenders.add(namespace, [...new Set(entries.map(({ watch }) => watch))]);
    }
  }

  #change(
    next: ReadonlyMap<string, Entry>,
    {
      added = [],
      changed = [],
      mended = [],
      deleted = [],
    }: Partial<Record<'added' | 'changed' | 'mended' | 'deleted', readonly Entry[]>>,
  ): void {
    const { log, onChange } = this.#parts;
    const before = new Map([...mended, ...deleted].map((entry) => [entry, this.#report(entry)]));
    this.#entries = next;
    const { text, lost } = describeQuarantine([...next.values()], this.#offenders.all);
    this.#lost = lost;
    this.#document.put(() => text);
    this.#gauge.set(next.values());
    const told: QuarantineChange = Object.freeze({
      added: added.map((entry) => this.#report(entry)),
      changed: changed.map((entry) => this.#report(entry)),
      released: [
        ...mended.map((entry) => ({ ...before.get(entry)!, because: 'mended' as const })),
        ...deleted.map((entry) => ({ ...before.get(entry)!, because: 'deleted' as const })),
      ],
      all: this.held,
    });
    for (const { object, reason, instead } of told.added) {
      log.warn({ object: describeRef(object), instead, reason }, 'an object was put into quarantine');
    }
    for (const { object, because } of told.released) {
      log.info({ object: describeRef(object), because }, 'an object was let out of quarantine');
    }
    if (told.added.length + told.changed.length + told.released.length > 0) onChange(told);
  }

  #parse(document: string, text: string | undefined, take: (text: string) => void): void {
    if (text === undefined) return;
    try {
      take(text);
    } catch (error) {
      // For whoever wants to know what was in it.
      void this.#parts.store?.write(`${document}-broken`, text).catch(() => {});
      this.#parts.log.error(
        { err: error, document },
        'kept state is broken and was left behind: all objects are judged anew',
      );
    }
  }
}
