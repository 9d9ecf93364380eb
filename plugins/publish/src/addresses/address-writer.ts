import type { Clock, KubeObject, Log, Served } from '@haptic/core/contract';
import { FIELD_MANAGER, getObject, isApiError, mergeObject, type KubeApi } from '@haptic/kube';
import { Attempts } from '../writing/attempts.ts';
import { Gone } from '../writing/gone.ts';
import { inLanes } from '../writing/in-lanes.ts';
import type { Inventory } from '../writing/inventory.ts';
import type { Pass } from '../writing/writer.ts';
import { addressText, type Address } from './address.ts';
import { isAsAccepted } from './as-accepted.ts';
import { entriesOf, entriesWith } from './entries.ts';
import {
  describePlaces,
  latestAddresses,
  placeKey,
  placesOf,
  type Place,
  type publishedAddresses,
} from './published-addresses.ts';

/** What is served of one kind. */
export interface ServedKind extends Served {
  readonly apiVersion: string;
  readonly resources: string;
  /** What objects were stripped of when they arrived. */
  readonly ignored: readonly (readonly string[])[];
}

export interface DesiredAddresses {
  readonly kinds: readonly ServedKind[];
  /** Empty: nobody knows them now. Nothing is added then, and nothing that is ours is taken away. */
  readonly addresses: readonly Address[];
}

export interface AddressWriterParts {
  readonly api: KubeApi;
  readonly inventory: Inventory<typeof publishedAddresses>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Objects at a time, and the pause before each: thousands of them leave the API server to others. Milliseconds. */
const LANES = 4;
const PAUSE_MS = 20;
/** What says something else than what was accepted is looked at again: it may say the same by then, and nobody would tell. */
const LOOK_AGAIN_MS = 30_000;

interface Target extends Place {
  readonly object: KubeObject;
  readonly ignored: ServedKind['ignored'];
}

/** What was found when a target was looked at. */
interface Look {
  readonly object: KubeObject;
  readonly addresses: string;
  /** When to look again; never for one that is right. */
  readonly again: number;
}

/** Keeps our addresses in the statuses of our objects, and takes them out where an object is no longer ours. */
export class AddressWriter {
  readonly #parts: AddressWriterParts;
  readonly #attempts: Attempts;
  readonly #looks = new Map<string, Look>();
  readonly #gone = new Gone();

  constructor(parts: AddressWriterParts) {
    this.#parts = parts;
    this.#attempts = new Attempts({
      log: parts.log,
      sentence: 'the addresses in a status could not be written',
    });
  }

  /** @throws Later when something is left to do */
  async write({ kinds, addresses }: DesiredAddresses, pass: Pass): Promise<void> {
    const { inventory } = this.#parts;
    const { signal, term, thorough } = pass;
    if (thorough) this.#looks.clear();
    const before = await inventory.read(term);
    const targets = new Map(kinds.flatMap(targetsOf).map((target) => [placeKey(target), target]));
    const held = new Set(kinds.flatMap((kind) => placesIn(kind, kind.unavailable)).map(placeKey));
    const known = placesOf(before);
    const lost = known
      .map((place) => [placeKey(place), place] as const)
      .filter(([key]) => !targets.has(key) && !held.has(key));
    const words = addresses.map(addressText);
    const written = new Set(latestAddresses(before.addresses, words));
    const added = addresses.length === 0 ? [] : [...targets.values()];
    const all = new Map([...known, ...added].map((place) => [placeKey(place), place]));
    await inventory.write(describePlaces(all.values(), written), signal);

    const text = JSON.stringify(addresses);
    const due = added.filter((target) => this.#isDue(target, text));
    await inLanes(due, LANES, async (target) => {
      await this.#attempts.make(placeKey(target), async () => {
        const made = await this.#put(target, addresses, written, signal);
        const again = made === 'skipped' ? this.#parts.clock.now() + LOOK_AGAIN_MS : Infinity;
        this.#looks.set(placeKey(target), { object: target.object, addresses: text, again });
      });
    });
    await inLanes(this.#gone.due(new Map(lost), pass), LANES, async ([key, place]) => {
      const isGone = await this.#attempts.make(key, () => this.#take(place, written, signal));
      if (isGone && this.#gone.add(key, pass)) all.delete(key);
    });
    await inventory.write(describePlaces(all.values(), written), signal);
    this.#forget(targets);
    const next = Math.min(...this.#looks.values().map(({ again }) => again));
    if (next < Infinity) pass.lookAgainAt(next);
    this.#attempts.end();
  }

  async #put(
    target: Target,
    addresses: readonly Address[],
    written: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<'right' | 'skipped'> {
    const live = await this.#look(target, signal);
    // What it says by now is for a later render to judge.
    if (live === undefined || !isAsAccepted(live, target.object, target.ignored)) return 'skipped';
    const isRight = await this.#change(
      target,
      live,
      entriesWith(entriesOf(live), addresses, written),
      signal,
    );
    return isRight ? 'right' : 'skipped';
  }

  #isDue(target: Target, addresses: string): boolean {
    const last = this.#looks.get(placeKey(target));
    const isNews = last?.object !== target.object || last.addresses !== addresses;
    return isNews || last.again <= this.#parts.clock.now();
  }

  async #take(place: Place, written: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const live = await this.#look(place, signal);
    if (live !== undefined)
      await this.#change(place, live, entriesWith(entriesOf(live), [], written), signal);
  }

  async #look(place: Place, signal: AbortSignal): Promise<KubeObject | undefined> {
    await this.#parts.clock.sleep(PAUSE_MS, signal);
    return await getObject(this.#parts.api, keyOf(place), { signal });
  }

  /** Whether it is as it should be now; not when it has gone meanwhile. */
  async #change(
    place: Place,
    live: KubeObject,
    ingress: readonly object[] | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (ingress === undefined) return true;
    const { uid, resourceVersion } = live.metadata;
    const fields = { metadata: { uid, resourceVersion }, status: { loadBalancer: { ingress } } };
    try {
      const options = { subresource: 'status', fieldManager: FIELD_MANAGER, signal };
      await mergeObject(this.#parts.api, keyOf(place), fields, options);
      return true;
    } catch (error) {
      if (!isApiError(error, 404)) throw error;
      return false;
    }
  }

  #forget(targets: ReadonlyMap<string, Target>): void {
    for (const key of this.#looks.keys()) if (!targets.has(key)) this.#looks.delete(key);
  }
}

function placesIn({ apiVersion, resources }: ServedKind, objects: readonly KubeObject[]): readonly Place[] {
  return objects.map(({ metadata: { namespace = '', name } }) => ({
    apiVersion,
    resources,
    namespace,
    name,
  }));
}

function targetsOf(kind: ServedKind): readonly Target[] {
  const places = placesIn(kind, kind.objects);
  return kind.objects.map((object, index) => ({ ...places[index]!, object, ignored: kind.ignored }));
}

function keyOf({ apiVersion, resources, namespace, name }: Place) {
  return {
    resource: { apiVersion, resource: resources, kind: '', namespaced: namespace !== '' },
    namespace,
    name,
  };
}
