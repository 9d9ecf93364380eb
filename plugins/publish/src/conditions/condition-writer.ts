import {
  describeRef,
  Refused,
  z,
  type Clock,
  type JsonObject,
  type KubeObject,
  type Log,
  type ObjectRef,
} from '@haptic/core/contract';
import {
  FIELD_MANAGER,
  getObject,
  isApiError,
  mergeObject,
  type KubeConnection,
  type ObjectKey,
} from '@haptic/kube';
import { Attempts } from '../writing/attempts.ts';
import { Gone } from '../writing/gone.ts';
import type { Inventory } from '../writing/inventory.ts';
import type { Pass } from '../writing/writer.ts';
import {
  declaredConditions,
  type DeclaredCondition,
  type DeclaredConditions,
} from './declared-conditions.ts';
import { conditionsOf, mergeConditions, type LiveCondition } from './merge-conditions.ts';

const entry = z.strictObject({
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
  types: z.array(z.string()),
});

/** Which objects may have conditions of ours, of which types. */
export const publishedConditions = z.strictObject({ version: z.literal(1), objects: z.array(entry) });
export const NO_CONDITIONS: z.output<typeof publishedConditions> = { version: 1, objects: [] };

export interface ConditionWriterParts {
  readonly kube: Pick<KubeConnection, 'api' | 'discovery'>;
  readonly inventory: Inventory<typeof publishedConditions>;
  readonly clock: Clock;
  readonly log: Log;
}

type Known = z.output<typeof entry>;

/** What is to be written of a declaration. */
interface Wanted extends DeclaredConditions {
  /** Of the whole declaration. */
  readonly text: string;
}

type Place = Pick<ObjectRef, 'apiVersion' | 'kind' | 'namespace' | 'name'>;

/** Keeps the conditions that templates declare in the statuses of objects, and takes out those that they declare no more. */
export class ConditionWriter {
  readonly #parts: ConditionWriterParts;
  readonly #attempts: Attempts;
  readonly #gone = new Gone();
  /** Objects that were right when they were looked at. */
  readonly #right = new Map<string, Wanted>();

  constructor(parts: ConditionWriterParts) {
    this.#parts = parts;
    this.#attempts = new Attempts({
      log: parts.log,
      sentence: 'the conditions of an object could not be written',
    });
  }

  /** @throws Later when something is left to do */
  async write(statuses: readonly JsonObject[], pass: Pass): Promise<void> {
    const { inventory } = this.#parts;
    const { signal, term, thorough, mayBeLate } = pass;
    if (thorough) this.#right.clear();
    const { declared, problems } = declaredConditions(statuses);
    for (const problem of problems) {
      await this.#attempts.make(`a declared status: ${problem}`, () => Promise.reject(new Refused(problem)));
    }
    const known = new Map((await inventory.read(term)).objects.map((one) => [placeKey(one), one]));
    if (declared.length === 0 && known.size === 0) return this.#attempts.end();
    const meant = new Set(declared.map(({ object }) => placeKey(object)));
    const wanted = new Map<string, Wanted>();
    for (const one of declared) {
      const allowed = await this.#allowed(one, known, signal);
      if (allowed !== undefined) wanted.set(placeKey(one.object), allowed);
    }
    const all = new Map(known);
    for (const [key, { object, conditions }] of wanted) {
      const types = [...(known.get(key)?.types ?? []), ...conditions.map(({ type }) => type)];
      if (types.length > 0) all.set(key, { ...placeOf(object), types: [...new Set(types)].toSorted() });
    }
    await inventory.write({ version: 1, objects: [...all.values()] }, signal);
    for (const [key, one] of wanted) {
      const written = new Set(known.get(key)?.types);
      const isDone = await this.#attempts.make(key, () => this.#put(key, one, written, signal));
      if (!isDone || mayBeLate || !all.has(key)) continue;
      all.set(key, { ...placeOf(one.object), types: one.conditions.map(({ type }) => type).toSorted() });
    }
    const lost = [...known].filter(([key]) => !meant.has(key));
    for (const [key, place] of this.#gone.due(new Map(lost), pass)) {
      this.#right.delete(key);
      const isGone = await this.#attempts.make(key, () =>
        this.#change(place, [], new Set(place.types), signal),
      );
      if (isGone && this.#gone.add(key, pass)) all.delete(key);
    }
    await inventory.write({ version: 1, objects: [...all.values()] }, signal);
    this.#attempts.end();
  }

  /** Without the types that somebody else wrote before us; undefined where it cannot be seen now which these are. */
  async #allowed(
    one: DeclaredConditions,
    known: ReadonlyMap<string, Known>,
    signal: AbortSignal,
  ): Promise<Wanted | undefined> {
    const key = placeKey(one.object);
    const text = JSON.stringify([one.object, one.conditions]);
    const right = this.#right.get(key);
    if (right?.text === text) return right;
    const types = new Set(known.get(key)?.types);
    let conditions: readonly DeclaredCondition[] = [];
    const isSeen = await this.#attempts.make(key, async () => {
      const there = new Set((await this.#look(one.object, signal)).map(({ type }) => type));
      conditions = one.conditions.filter(({ type }) => types.has(type) || !there.has(type));
    });
    if (!isSeen) return undefined;
    for (const { type } of one.conditions) {
      if (conditions.some((condition) => condition.type === type)) continue;
      await this.#attempts.make(`${key} ${type}`, () =>
        Promise.reject(new Refused(`${type} of ${key} is not ours`)),
      );
    }
    return { object: one.object, conditions, text };
  }

  async #put(key: string, wanted: Wanted, written: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    if (this.#right.get(key) === wanted) return;
    await this.#change(wanted.object, wanted.conditions, written, signal);
    this.#right.set(key, wanted);
  }

  async #look(object: ObjectRef, signal: AbortSignal): Promise<readonly LiveCondition[]> {
    const live = await getObject(this.#parts.kube.api, this.#keyOf(object), { signal });
    return live === undefined ? [] : conditionsOf(live);
  }

  async #change(
    object: ObjectRef,
    conditions: readonly DeclaredCondition[],
    written: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<void> {
    const { kube, clock } = this.#parts;
    const key = this.#keyOf(object);
    const live = await getObject(kube.api, key, { signal });
    if (live === undefined || (object.uid !== undefined && object.uid !== live.metadata.uid)) return;
    const time = new Date(clock.wall()).toISOString().replace(/\.\d+Z$/, 'Z');
    const next = mergeConditions(conditionsOf(live), conditions, written, time);
    if (next !== undefined) await this.#send(key, live, next, signal);
  }

  async #send(
    key: ObjectKey,
    live: KubeObject,
    conditions: readonly object[],
    signal: AbortSignal,
  ): Promise<void> {
    const { uid, resourceVersion } = live.metadata;
    const options = { subresource: 'status', fieldManager: FIELD_MANAGER, signal };
    try {
      const fields = { metadata: { uid, resourceVersion }, status: { conditions } };
      await mergeObject(this.#parts.kube.api, key, fields, options);
    } catch (error) {
      if (!isApiError(error, 404)) throw error;
    }
  }

  #keyOf({ apiVersion, kind, namespace, name }: Place): ObjectKey {
    const resource = this.#parts.kube.discovery.findKind(apiVersion, kind);
    if (resource === undefined) throw new Refused(`the cluster does not serve ${apiVersion} ${kind}`);
    return { resource, namespace, name };
  }
}

function placeOf({ apiVersion, kind, namespace, name }: ObjectRef): Place {
  return { apiVersion, kind, namespace, name };
}

function placeKey(place: Place): string {
  return `${place.apiVersion} ${describeRef(place)}`;
}
