import { Cancelled, Outage, Retry, type Clock, type Log, type Term } from '@haptic/core/contract';
import { addAbortListener } from 'node:events';
import type { KubeApi } from '../api.ts';
import { ApiError, isApiError } from '../api-error.ts';
import { LeaseAccess } from './lease-access.ts';
import type { LeaseRecord } from './lease-record.ts';
import { LeaseTerm } from './term.ts';
import { checkTiming, defaultLeaseTiming, patience, type LeaseTiming } from './timing.ts';

export interface ElectorOptions {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly name: string;
  /** Of this process alone: a restarted pod is another candidate. */
  readonly identity: string;
  /** Runs a term; the hand-over waits for it, so it ends soon after its signal aborts. */
  readonly lead: (term: LeaseTerm) => void | Promise<void>;
  /** The highest epoch that anybody reachable has seen; asked before each taking of office, which waits for it. */
  readonly floor?: (signal: AbortSignal) => Promise<number>;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
  readonly timing?: LeaseTiming;
}

interface Office {
  readonly term: LeaseTerm;
  readonly work: Promise<void>;
}

/** Writes of one renewal; what still gets in between then is met a retry period later. */
const RENEWAL_ATTEMPTS = 5;

const nobody: Term = Object.freeze({ leader: false, epoch: 0, signal: AbortSignal.abort() });

/**
 * Takes a Lease and keeps it. Nobody's timestamps are trusted: whether a Lease has expired is judged by our own monotonic clock
 * since we saw its record change, and our own term ends by the same clock before others may take it.
 */
export class Elector {
  readonly #options: ElectorOptions;
  #timing: LeaseTiming;
  readonly #lease: LeaseAccess;
  #office: Office | undefined;
  /** An epoch that the running term must rise above. */
  #outdated = 0;
  /** The work of a term that has ended and still winds up. */
  #leftover: Promise<void> | undefined;
  #wake = new AbortController();
  /** Replaced whenever the term was renewed or has ended. */
  #news = Promise.withResolvers<void>();
  readonly #outage: Outage;
  #problem: string | undefined;

  constructor(options: ElectorOptions) {
    this.#options = options;
    this.#outage = new Outage(options.clock);
    this.#timing = options.timing ?? defaultLeaseTiming;
    checkTiming(this.#timing);
    this.#lease = new LeaseAccess(options);
  }

  current(): Term {
    const term = this.#office?.term;
    return term?.leader === true ? { leader: true, epoch: term.epoch, signal: term.signal } : nobody;
  }

  /** Why the Lease was not read or written the last time that this was tried. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /**
   * From now on with this timing. A term goes on: its Lease promises the new one from the next renewal, which is at once.
   * @throws Refused when a term could outlast the patience of the others
   */
  retime(timing: LeaseTiming): void {
    checkTiming(timing);
    this.#timing = timing;
    this.#wake.abort();
  }

  /** The Lease may have become free: looks at once. */
  kick(): void {
    this.#wake.abort();
  }

  /**
   * Somebody has seen this epoch, so ours must be higher: resolves when it is.
   * @throws Cancelled when the term ends first, or the signal aborts
   */
  async raise(seen: number, signal: AbortSignal): Promise<number> {
    this.#outdated = Math.max(this.#outdated, seen);
    this.#wake.abort();
    const aborted = Promise.withResolvers<void>();
    using _listener = addAbortListener(signal, () => aborted.resolve());
    for (;;) {
      const { leader, epoch } = this.current();
      if (!leader || signal.aborted) throw new Cancelled('the term has ended');
      if (epoch > seen) return epoch;
      await Promise.race([this.#news.promise, aborted.promise]);
    }
  }

  /** Runs until the signal aborts; the Lease is then handed over, if it was ours and its term's work has ended in time. */
  async run(signal: AbortSignal): Promise<void> {
    const watchdog = this.#watch(signal);
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const pause = await this.#step(signal);
      await this.#pause(pause, signal);
    }
    await this.#handOver();
    await watchdog;
  }

  /** Milliseconds until the next step. */
  async #step(signal: AbortSignal): Promise<number> {
    const { retryPeriod } = this.#timing;
    let pause = retryPeriod;
    try {
      if (this.#office !== undefined) await this.#renew(this.#office.term);
      else pause = await this.#apply(signal);
      this.#works();
    } catch (error) {
      this.#report(error, signal);
    }
    return pause;
  }

  #works(): void {
    const { log, name } = this.#options;
    this.#problem = undefined;
    const forMs = this.#outage.end();
    if (forMs === undefined) return;
    log.info({ lease: name, forMs: Math.round(forMs) }, 'the lease can be read and written again');
  }

  #report(error: unknown, signal: AbortSignal): void {
    const { log, name } = this.#options;
    if (signal.aborted) return;
    if (isApiError(error, 409))
      return log.debug({ lease: name, error }, 'another candidate wrote the lease first');
    const { message, name: kind } = error instanceof Error ? error : new Error(String(error));
    this.#problem = message;
    const reason = error instanceof ApiError ? `${kind} ${error.code}` : kind;
    if (!this.#outage.isNews(reason)) return;
    if (error instanceof Retry || error instanceof ApiError || error instanceof Cancelled)
      log.warn({ lease: name, reason: message }, 'the lease could not be read or written');
    else log.error({ lease: name, err: error }, 'the lease could not be handled');
  }

  /** As a candidate: looks, and takes the Lease when it is free. */
  async #apply(signal: AbortSignal): Promise<number> {
    const { random = Math.random } = this.#options;
    const { retryPeriod } = this.#timing;
    const seen = await this.#lease.read(this.#timing.renewDeadline, signal);
    if (this.#leftover !== undefined) return retryPeriod;
    const record = seen ?? (await this.#found(signal));
    if (record === undefined) return retryPeriod;
    const wait = this.#waitFor(record);
    // Candidates that wait for the same moment must not come at the same moment.
    if (wait > 0) return Math.min(wait, retryPeriod * (0.8 + 0.2 * random()));
    await this.#take(await this.#nextEpoch(signal), record, signal);
    return retryPeriod;
  }

  /**
   * There is no Lease. A new installation's first process takes office at once. Otherwise a holder may be acting whose Lease was
   * deleted: a Lease of nobody is put there, which it may claim back and all others watch for as long as for any other. Absence
   * itself could not be watched: a Lease that comes and goes between two looks would leave no trace.
   */
  async #found(signal: AbortSignal): Promise<LeaseRecord | undefined> {
    const epoch = await this.#nextEpoch(signal);
    if (this.#lease.highestEpoch === undefined && epoch === 1) {
      await this.#take(epoch, undefined, signal);
      return undefined;
    }
    // Whoever held it may have promised more than we would.
    const { duration, deadline } = this.#lease.longest;
    const promise = {
      ...this.#timing,
      leaseDuration: Math.max(this.#timing.leaseDuration, duration),
      renewDeadline: Math.max(this.#timing.renewDeadline, deadline),
    };
    return this.#write('', epoch - 1, undefined, promise, this.#timing.renewDeadline);
  }

  async #nextEpoch(signal: AbortSignal): Promise<number> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(this.#timing.renewDeadline)]);
    const above = (await this.#options.floor?.(limited)) ?? 0;
    return Math.max(this.#lease.highestEpoch ?? 0, above) + 1;
  }

  /** Milliseconds until this record may be taken; 0 when it may. */
  #waitFor(record: LeaseRecord): number {
    if (record.released || this.#lease.isOurs(record)) return 0;
    const now = this.#options.clock.now();
    return Math.max(0, (this.#lease.seenAt ?? now) + patience(this.#timing, record) - now);
  }

  async #take(epoch: number, before: LeaseRecord | undefined, signal: AbortSignal): Promise<void> {
    const { clock, identity, log, name } = this.#options;
    if (signal.aborted) return;
    const timing = this.#timing;
    const sentAt = clock.now();
    await this.#write(identity, epoch, before, timing, timing.renewDeadline);
    const term = new LeaseTerm(epoch, sentAt, timing, clock);
    if (!term.leader) return;
    this.#outdated = 0;
    // Called off while the claim was on its way: there is nothing to lead, but a Lease to hand over.
    this.#office = { term, work: signal.aborted ? Promise.resolve() : this.#lead(term) };
    log.info({ lease: name, epoch }, 'this process leads');
  }

  async #lead(term: LeaseTerm): Promise<void> {
    await Promise.resolve(); // the term is known before its work begins
    try {
      await this.#options.lead(term);
    } catch (error) {
      if (term.signal.aborted) return;
      this.#options.log.error({ lease: this.#options.name, error }, 'the work of a term failed');
      // To hold the Lease without working would keep everybody from it; the next term may fare better.
      if (this.#office?.term === term) this.#endTerm('its work failed');
    }
  }

  async #renew(term: LeaseTerm): Promise<void> {
    await this.#renewWith(term.timing, term);
    const timing = this.#timing;
    if (timing === term.timing || !term.leader) return;
    // Just renewed, it has time enough also where the new deadline is much shorter.
    term.promises(timing);
    await this.#renewWith(timing, term);
  }

  async #renewWith(timing: LeaseTiming, term: LeaseTerm): Promise<void> {
    const { clock, identity } = this.#options;
    for (let attempt = 1; term.leader; attempt++) {
      const sentAt = clock.now();
      const epoch = Math.max(term.epoch, this.#outdated >= term.epoch ? this.#outdated + 1 : 0);
      try {
        await this.#write(identity, epoch, this.#lease.record, timing, term.left);
        term.renewed(epoch, sentAt, timing);
        this.#tellNews();
        return;
      } catch (error) {
        const meddled = isApiError(error, 409) || isApiError(error, 404);
        if (!meddled || attempt === RENEWAL_ATTEMPTS) throw error;
      }
      // Somebody wrote or deleted it.
      const record = await this.#lease.read(term.left);
      if (record !== undefined && !this.#stillOurs(record, epoch)) {
        return this.#endTerm(`the lease is held by "${record.holder}" with epoch ${record.epoch}`);
      }
    }
    this.#endTerm('the lease was not renewed in time');
  }

  /** Also when it is nobody's: whoever made it so waits for us to claim it back before taking it. */
  #stillOurs({ holder, epoch, released }: LeaseRecord, ours: number): boolean {
    return epoch <= ours && (holder === this.#options.identity || (holder === '' && !released));
  }

  #endTerm(why: string): void {
    const office = this.#office;
    if (office === undefined) return;
    this.#office = undefined;
    this.#options.log.info(
      { lease: this.#options.name, epoch: office.term.epoch, why },
      'the term has ended',
    );
    office.term.end(new Cancelled(why));
    this.#leftover = this.#windUp(office.work);
    this.#tellNews();
  }

  /** The next term of ours begins when nothing of this one runs any more. */
  async #windUp(work: Promise<void>): Promise<void> {
    await work;
    this.#leftover = undefined;
  }

  #tellNews(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }

  #write(
    holder: string,
    epoch: number,
    before: LeaseRecord | undefined,
    { leaseDuration, renewDeadline }: LeaseTiming,
    timeout: number,
  ): Promise<LeaseRecord> {
    const claim = { holder, epoch, duration: leaseDuration, deadline: renewDeadline };
    return this.#lease.write(claim, before, timeout);
  }

  /** Ends a term that ran out while a renewal is still on its way. */
  async #watch(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { retryPeriod } = this.#timing;
    while (!signal.aborted) {
      const term = this.#office?.term;
      if (term !== undefined && !term.leader) this.#endTerm('the lease was not renewed in time');
      const wait = term === undefined ? retryPeriod : Math.max(1, Math.min(term.left, retryPeriod));
      await clock.sleep(wait, signal).catch(() => undefined);
    }
  }

  async #handOver(): Promise<void> {
    const { clock, log, name } = this.#options;
    const office = this.#office;
    if (office === undefined) return;
    const until = clock.now() + office.term.left;
    this.#endTerm('the process hands over');
    const settled = new AbortController();
    const late = clock.sleep(Math.max(0, until - clock.now()), settled.signal).catch(() => undefined);
    const inTime = await Promise.race([office.work.then(() => true), late.then(() => false)]);
    settled.abort();
    // It then expires by itself: to release it would let another one in beside work that still runs.
    if (!inTime) return;
    try {
      const claim = {
        holder: '',
        epoch: office.term.epoch,
        released: true,
        duration: this.#timing.leaseDuration,
        deadline: this.#timing.renewDeadline,
      };
      await this.#lease.write(claim, this.#lease.record, until - clock.now());
    } catch (error) {
      log.warn({ lease: name, error }, 'the lease was not handed over and will expire');
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await this.#options.clock
      .sleep(ms, AbortSignal.any([signal, this.#wake.signal]))
      .catch((error: unknown) => {
        if (!(error instanceof Cancelled)) throw error;
      });
  }
}
