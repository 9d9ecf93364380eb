import { isDeepStrictEqual } from 'node:util';
import type { Clock, KubeObject, Log, Served } from '@haptic/core/contract';
import { getObject, isApiError, mergeObject, type KubeApi } from '@haptic/kube';
import { FIELD_MANAGER } from '../names.ts';
import { Attempts } from '../writing/attempts.ts';
import { inLanes } from '../writing/in-lanes.ts';
import type { Inventory } from '../writing/inventory.ts';
import type { Pass } from '../writing/writer.ts';
import { addressText, type Address } from './address.ts';
import { entriesOf, entriesWith } from './entries.ts';
import {
  describePlaces,
  placeKey,
  placesOf,
  type Place,
  type publishedAddresses,
} from './published-addresses.ts';

/** What is served of one kind. */
export interface ServedKind extends Served {
  readonly apiVersion: string;
  readonly resources: string;
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
/** Ever written ones that are known as ours. */
const MOST_ADDRESSES = 32;

interface Target extends Place {
  readonly object: KubeObject;
}

/** Keeps our addresses in the statuses of our objects, and takes them out where an object is no longer ours. */
export class AddressWriter {
  readonly #parts: AddressWriterParts;
  readonly #attempts: Attempts;
  /** Objects that were right when they were looked at, with the addresses that they have. */
  readonly #right = new Map<string, { readonly object: KubeObject; readonly addresses: string }>();

  constructor(parts: AddressWriterParts) {
    this.#parts = parts;
    this.#attempts = new Attempts(parts.log, 'the addresses in a status could not be written');
  }

  /** @throws Retry when something is left to do */
  async write({ kinds, addresses }: DesiredAddresses, { signal, term, thorough }: Pass): Promise<void> {
    const { inventory } = this.#parts;
    if (thorough) this.#right.clear();
    const before = await inventory.read(term);
    const targets = new Map(kinds.flatMap(targetsOf).map((target) => [placeKey(target), target]));
    const held = new Set(kinds.flatMap((kind) => placesIn(kind, kind.unavailable)).map(placeKey));
    const known = placesOf(before);
    const lost = known.filter((place) => !targets.has(placeKey(place)) && !held.has(placeKey(place)));
    const words = addresses.map(addressText);
    const written = new Set([...before.addresses, ...words].slice(-MOST_ADDRESSES));
    const added = addresses.length === 0 ? [] : [...targets.values()];
    const all = new Map([...known, ...added].map((place) => [placeKey(place), place]));
    await inventory.write(describePlaces(all.values(), written), signal);

    const text = JSON.stringify(addresses);
    const due = added.filter((target) => !this.#isRight(target, text));
    await inLanes(due, LANES, async (target) => {
      await this.#attempts.make(placeKey(target), async () => {
        await this.#put(target, addresses, written, signal);
        this.#right.set(placeKey(target), { object: target.object, addresses: text });
      });
    });
    await inLanes(lost, LANES, async (place) => {
      const isGone = await this.#attempts.make(placeKey(place), () => this.#take(place, written, signal));
      if (isGone) all.delete(placeKey(place));
    });
    await inventory.write(describePlaces(all.values(), written), signal);
    this.#forget(targets);
    this.#attempts.end();
  }

  async #put(
    target: Target,
    addresses: readonly Address[],
    written: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<void> {
    const live = await this.#look(target, signal);
    // What it says by now is for a later render to judge.
    if (live === undefined || !isSame(live, target.object)) return;
    await this.#change(target, live, entriesWith(entriesOf(live), addresses, written), signal);
  }

  #isRight(target: Target, addresses: string): boolean {
    const right = this.#right.get(placeKey(target));
    return right?.object === target.object && right.addresses === addresses;
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

  async #change(
    place: Place,
    live: KubeObject,
    ingress: readonly object[] | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (ingress === undefined) return;
    const { uid, resourceVersion } = live.metadata;
    const fields = { metadata: { uid, resourceVersion }, status: { loadBalancer: { ingress } } };
    try {
      const options = { subresource: 'status', fieldManager: FIELD_MANAGER, signal };
      await mergeObject(this.#parts.api, keyOf(place), fields, options);
    } catch (error) {
      if (!isApiError(error, 404)) throw error;
    }
  }

  #forget(targets: ReadonlyMap<string, Target>): void {
    for (const key of this.#right.keys()) if (!targets.has(key)) this.#right.delete(key);
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
  return kind.objects.map((object, index) => ({ ...places[index]!, object }));
}

function keyOf({ apiVersion, resources, namespace, name }: Place) {
  return {
    resource: { apiVersion, resource: resources, kind: '', namespaced: namespace !== '' },
    namespace,
    name,
  };
}

/** Whether it still says what it was accepted with; a generation does not rise with annotations. */
function isSame(live: KubeObject, accepted: KubeObject): boolean {
  const { uid, generation, annotations = {} } = live.metadata;
  const then = accepted.metadata;
  return (
    uid === then.uid &&
    generation === then.generation &&
    isDeepStrictEqual(annotations, then.annotations ?? {})
  );
}
