import { Cancelled, Retry, type Clock, type Log, type Term } from '@haptic/core/contract';
import type { KubeApi } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { createObject, getObject, replaceObject } from '../objects.ts';
import { microTime } from '../micro-time.ts';
import { leaseResource, readLease, writeLease, type LeaseRecord } from './lease-record.ts';
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
  /** The highest epoch that anybody reachable has seen; asked before each taking of office. */
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

const nobody: Term = Object.freeze({ leader: false, epoch: 0, signal: AbortSignal.abort() });

/**
 * Takes a Lease and keeps it. Nobody's timestamps are trusted: whether a Lease has expired is judged by our own monotonic clock
 * since we saw its record change, and our own term ends by the same clock before others may take it.
 */
export class Elector {
  readonly #options: ElectorOptions;
  readonly #timing: LeaseTiming;
  #office: Office | undefined;
  /** The last record that we wrote or saw. */
  #record: LeaseRecord | undefined;
  /** What we last saw, and when it became that. */
  #seen: { readonly version: string; readonly at: number } | undefined;
  /** The version of the last record that we know we wrote. */
  #written: string | undefined;
  /** The claim of our last attempt: it may have arrived although no answer came back. */
  #claimed: { readonly epoch: number; readonly renewTime: string } | undefined;
  #highestEpoch = 0;
  /** An epoch that the running term must rise above. */
  #outdated = 0;
  #serial = 0;
  #sawRecord = false;
  /** The work of a term that has ended and still winds up. */
  #leftover: Promise<void> | undefined;
  #wake = new AbortController();
  /** Replaced whenever the term was renewed or has ended. */
  #news = Promise.withResolvers<void>();

  constructor(options: ElectorOptions) {
    this.#options = options;
    this.#timing = options.timing ?? defaultLeaseTiming;
    checkTiming(this.#timing);
  }

  current(): Term {
    const term = this.#office?.term;
    return term?.leader === true ? { leader: true, epoch: term.epoch, signal: term.signal } : nobody;
  }

  /**
   * Somebody has seen this epoch, so ours must be higher: resolves when it is.
   * @throws Cancelled when the term ends first
   */
  async raise(seen: number, signal: AbortSignal): Promise<number> {
    this.#outdated = Math.max(this.#outdated, seen);
    this.#wake.abort();
    for (;;) {
      const { leader, epoch } = this.current();
      if (!leader || signal.aborted) throw new Cancelled('the term has ended');
      if (epoch > seen) return epoch;
      await this.#news.promise;
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
    const { log, name } = this.#options;
    const { retryPeriod } = this.#timing;
    try {
      if (this.#office !== undefined) await this.#renew(this.#office.term);
      else return await this.#apply(signal);
    } catch (error) {
      if (!(error instanceof Retry) && !(error instanceof ApiError) && !(error instanceof Cancelled)) {
        log.error({ lease: name, error }, 'the lease could not be handled');
      } else if (!signal.aborted) {
        log.warn({ lease: name, error: error.message }, 'the lease could not be read or written');
      }
    }
    return retryPeriod;
  }

  /** As a candidate: looks, and takes the Lease when it is free. */
  async #apply(signal: AbortSignal): Promise<number> {
    const { random = Math.random, floor } = this.#options;
    const record = await this.#look();
    if (this.#leftover !== undefined) return this.#timing.retryPeriod;
    const wait = this.#waitFor(record);
    // Candidates that wait for the same moment must not come at the same moment.
    if (wait > 0) return Math.min(wait, this.#timing.retryPeriod * (0.8 + 0.2 * random()));
    const above = (await floor?.(signal)) ?? 0;
    await this.#take(Math.max(this.#highestEpoch, above) + 1, record, signal);
    return this.#timing.retryPeriod;
  }

  /** Milliseconds until this record may be taken; 0 when it may. */
  #waitFor(record: LeaseRecord | undefined): number {
    // A process that never saw a record starts an installation; one that did knows that its holder may still act.
    if (record === undefined && !this.#sawRecord) return 0;
    if (record?.released === true || (record !== undefined && this.#isOurs(record))) return 0;
    const since = this.#seen?.at ?? this.#options.clock.now();
    return Math.max(0, since + patience(this.#timing, record?.duration ?? 0) - this.#options.clock.now());
  }

  /** A record that names us but that we did not write has been restored or forged: its real holder may still act. */
  #isOurs(record: LeaseRecord): boolean {
    if (record.version === this.#written) return true;
    const { epoch, renewTime } = this.#claimed ?? {};
    return (
      record.holder === this.#options.identity && record.epoch === epoch && record.renewTime === renewTime
    );
  }

  async #take(epoch: number, before: LeaseRecord | undefined, signal: AbortSignal): Promise<void> {
    const { clock, identity, log, name } = this.#options;
    const sentAt = clock.now();
    await this.#write(identity, epoch, before, this.#timing.renewDeadline);
    const term = new LeaseTerm(epoch, sentAt, this.#timing.renewDeadline, clock);
    if (!term.leader || signal.aborted) return;
    log.info({ lease: name, epoch }, 'this process leads');
    this.#outdated = 0;
    this.#office = { term, work: this.#lead(term) };
  }

  async #lead(term: LeaseTerm): Promise<void> {
    try {
      await this.#options.lead(term);
    } catch (error) {
      if (!term.signal.aborted) this.#options.log.error({ error }, 'the work of a term failed');
    }
  }

  async #renew(term: LeaseTerm): Promise<void> {
    const { clock, identity } = this.#options;
    while (term.leader) {
      const sentAt = clock.now();
      const epoch = Math.max(term.epoch, this.#outdated >= term.epoch ? this.#outdated + 1 : 0);
      try {
        await this.#write(identity, epoch, this.#record, term.left);
        term.renewed(epoch, sentAt);
        this.#tellNews();
        return;
      } catch (error) {
        if (!(error instanceof ApiError) || (error.code !== 409 && error.code !== 404)) throw error;
      }
      // Somebody wrote or deleted it. While it is gone, or says what we wrote, it is still ours.
      const record = await this.#look(term.left);
      if (record !== undefined && !this.#stillOurs(record, term.epoch)) {
        return this.#endTerm(`the lease is held by "${record.holder}" with epoch ${record.epoch}`);
      }
    }
    this.#endTerm('the lease was not renewed in time');
  }

  #stillOurs(record: LeaseRecord, epoch: number): boolean {
    return record.holder === this.#options.identity && record.epoch <= epoch;
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

  async #look(timeout = this.#timing.renewDeadline): Promise<LeaseRecord | undefined> {
    const { api, clock, namespace, name } = this.#options;
    const key = { resource: leaseResource, namespace, name };
    const object = await getObject(api, key, { timeout: Math.max(1, timeout) });
    this.#record = object === undefined ? undefined : readLease(object);
    if (this.#record !== undefined) this.#sawRecord = true;
    const version = this.#record?.version ?? 'absent';
    if (this.#seen?.version !== version) this.#seen = { version, at: clock.now() };
    this.#highestEpoch = Math.max(this.#highestEpoch, this.#record?.epoch ?? 0);
    return this.#record;
  }

  /** @throws ApiError 409 or 404 when the Lease is not what `before` says */
  async #write(
    holder: string,
    epoch: number,
    before: LeaseRecord | undefined,
    timeout: number,
  ): Promise<void> {
    const { api, clock, namespace, name } = this.#options;
    const renewTime = microTime(clock.wall(), (this.#serial += 1));
    const claim = { holder, epoch, duration: this.#timing.leaseDuration, renewTime };
    const lease = writeLease(claim, { namespace, name }, before);
    this.#claimed = { epoch, renewTime };
    const options = { timeout: Math.max(1, timeout) };
    const written =
      before === undefined
        ? await createObject(api, leaseResource, lease, options)
        : await replaceObject(api, { resource: leaseResource, namespace, name }, lease, options);
    this.#record = readLease(written);
    this.#written = this.#record.version;
    this.#sawRecord = true;
    this.#seen = { version: this.#record.version, at: clock.now() };
    this.#highestEpoch = Math.max(this.#highestEpoch, epoch);
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
      await this.#write('', office.term.epoch, this.#record, until - clock.now());
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
