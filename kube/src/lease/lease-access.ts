import type { Clock } from '@haptic/core/contract';
import type { KubeApi } from '../api.ts';
import { microTime } from '../micro-time.ts';
import { createObject, getObject, replaceObject } from '../objects.ts';
import { leaseResource, readLease, writeLease, type LeaseClaim, type LeaseRecord } from './lease-record.ts';

export interface LeasePlace {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly clock: Clock;
}

/** Reads and writes one Lease, and remembers what it saw and what it wrote. */
export class LeaseAccess {
  readonly #place: LeasePlace;
  #record: LeaseRecord | undefined;
  #seen: { readonly version: string; readonly at: number } | undefined;
  /** The version of the last record that we know we wrote. */
  #written: string | undefined;
  /** Our last attempt to write: it may have arrived although no answer came back. */
  #attempt: { readonly epoch: number; readonly renewTime: string } | undefined;
  #highestEpoch = 0;
  #longest = { duration: 0, deadline: 0 };
  #serial = 0;

  constructor(place: LeasePlace) {
    this.#place = place;
  }

  /** What was last read or written; undefined when there was no Lease. */
  get record(): LeaseRecord | undefined {
    return this.#record;
  }

  /** When the record became what it is, by our own clock. */
  get seenAt(): number | undefined {
    return this.#seen?.at;
  }

  /** Of all records that were ever seen; undefined before the first. */
  get highestEpoch(): number | undefined {
    return this.#seen === undefined ? undefined : this.#highestEpoch;
  }

  /** Of all records that were ever seen: one of these holders may still act. Milliseconds. */
  get longest(): { readonly duration: number; readonly deadline: number } {
    return this.#longest;
  }

  /** A record that names us but that we did not write has been restored or forged: its real holder may still act. */
  isOurs({ holder, version, epoch, renewTime }: LeaseRecord): boolean {
    if (holder !== this.#place.identity) return false;
    if (version === this.#written) return true;
    return epoch === this.#attempt?.epoch && renewTime === this.#attempt.renewTime;
  }

  /** Milliseconds for the answer. A write has no signal: one that is called off may arrive all the same. */
  async read(timeout: number, signal?: AbortSignal): Promise<LeaseRecord | undefined> {
    const { api, namespace, name } = this.#place;
    const key = { resource: leaseResource, namespace, name };
    const object = await getObject(api, key, { timeout: Math.max(1, timeout), signal });
    this.#record = object === undefined ? undefined : readLease(object);
    if (this.#record !== undefined) this.#remember(this.#record);
    return this.#record;
  }

  /**
   * Over the record that is given, or where there is none.
   * @throws ApiError 409 or 404 when the Lease is not (any more) what `before` says
   */
  async write(
    claim: Omit<LeaseClaim, 'renewTime'>,
    before: LeaseRecord | undefined,
    timeout: number,
  ): Promise<LeaseRecord> {
    const { api, clock, namespace, name } = this.#place;
    const renewTime = microTime(clock.wall(), (this.#serial += 1));
    this.#attempt = { epoch: claim.epoch, renewTime };
    const lease = writeLease({ ...claim, renewTime }, { namespace, name }, before);
    const options = { timeout: Math.max(1, timeout) };
    const written =
      before === undefined
        ? await createObject(api, leaseResource, lease, options)
        : await replaceObject(api, { resource: leaseResource, namespace, name }, lease, options);
    this.#record = readLease(written);
    this.#written = this.#record.version;
    this.#remember(this.#record);
    return this.#record;
  }

  #remember({ version, epoch, duration, deadline }: LeaseRecord): void {
    // The time after the answer: the writer of the record has set out before.
    if (this.#seen?.version !== version) this.#seen = { version, at: this.#place.clock.now() };
    this.#highestEpoch = Math.max(this.#highestEpoch, epoch);
    this.#longest = {
      duration: Math.max(this.#longest.duration, duration),
      deadline: Math.max(this.#longest.deadline, deadline),
    };
  }
}
