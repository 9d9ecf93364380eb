import {
  didYouMean,
  parseFieldPath,
  readField,
  refOf,
  Refused,
  type KubeObject,
  type StoreChange,
  type WatchContent,
  type WatchView,
} from '../contract/index.ts';
import { arrive, sameContent } from './arrival.ts';
import { BucketMap } from './bucket-map.ts';
import { ObjectList } from './object-list.ts';

/** What the store needs to know of a watch. */
export type WatchShape = Pick<WatchContent, 'indexBy' | 'ignoreFields'>;

interface Definition {
  readonly name: string;
  readonly ignore: readonly (readonly string[])[];
  readonly indexes: ReadonlyMap<string, readonly string[]>;
}

type Indexes = ReadonlyMap<string, BucketMap<ObjectList>>;

interface Contents {
  readonly objects: ObjectList;
  readonly indexes: Indexes;
  readonly unavailable: ObjectList;
}

function keyOf(object: KubeObject, path: readonly string[]): string | undefined {
  const value = readField(object, path);
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** Moves one object from where `before` stands to where `after` stands. */
function reindex(
  index: BucketMap<ObjectList>,
  path: readonly string[],
  before: KubeObject | undefined,
  after: KubeObject | undefined,
): BucketMap<ObjectList> {
  const from = before && keyOf(before, path);
  const to = after && keyOf(after, path);
  let next = index;
  if (before !== undefined && from !== undefined && from !== to) {
    const rest = (next.get(from) ?? ObjectList.empty).without(
      before.metadata.namespace ?? '',
      before.metadata.name,
    );
    next = rest.size === 0 ? next.without(from) : next.with(from, rest);
  }
  if (after !== undefined && to !== undefined)
    next = next.with(to, (next.get(to) ?? ObjectList.empty).with(after));
  return next;
}

/** The objects of one watch and their indexes. Immutable: every change yields another table that shares what did not change. */
export class WatchTable implements WatchView {
  readonly served: boolean;
  /** Filled once, or known not to be served. */
  readonly synced: boolean;
  readonly #definition: Definition;
  readonly #objects: ObjectList;
  readonly #indexes: Indexes;
  readonly #unavailable: ObjectList;

  private constructor(
    definition: Definition,
    { objects, indexes, unavailable }: Contents,
    state: { readonly served: boolean; readonly synced: boolean },
  ) {
    this.#definition = definition;
    this.#objects = objects;
    this.#indexes = indexes;
    this.#unavailable = unavailable;
    this.served = state.served;
    this.synced = state.synced;
  }

  static empty(name: string, shape: WatchShape): WatchTable {
    const indexes = new Map(shape.indexBy.map((path) => [path, parseFieldPath(path)]));
    const definition = { name, ignore: shape.ignoreFields.map(parseFieldPath), indexes };
    const none = new Map(shape.indexBy.map((path) => [path, new BucketMap<ObjectList>()]));
    const contents = { objects: ObjectList.empty, indexes: none, unavailable: ObjectList.empty };
    return new WatchTable(definition, contents, { served: true, synced: false });
  }

  list(): readonly KubeObject[] {
    return this.#objects.toArray();
  }

  get(namespace: string, name: string): KubeObject | undefined {
    return this.#objects.get(namespace, name);
  }

  by(index: string, ...keys: readonly string[]): readonly KubeObject[] {
    const paths = this.#paths(index);
    if (paths.length !== keys.length) {
      throw new Refused(
        `index "${index}" of watch "${this.#definition.name}" takes ${paths.length} key(s), got ${keys.length}`,
      );
    }
    const found = paths.map((path, at) => this.#indexes.get(path)!.get(keys[at]!) ?? ObjectList.empty);
    if (found.length === 1) return found[0]!.toArray();
    const fewest = found.reduce((least, list) => (list.size < least.size ? list : least));
    const wanted = paths.map((path, at) => [this.#definition.indexes.get(path)!, keys[at]] as const);
    return fewest.toArray().filter((object) => wanted.every(([path, key]) => keyOf(object, path) === key));
  }

  unavailable(): readonly KubeObject[] {
    return this.#unavailable.toArray();
  }

  /** The object as kept, with the change that it makes; no change when it says what is already here. */
  upsert(arriving: KubeObject): { readonly table: WatchTable; readonly change?: StoreChange } {
    const after = arrive(this.#definition.name, arriving, this.#definition.ignore);
    const before = this.get(after.metadata.namespace ?? '', after.metadata.name);
    if (before !== undefined && sameContent(before, after)) return { table: this };
    const object = refOf(after);
    const watch = this.#definition.name;
    const change: StoreChange =
      before === undefined
        ? { watch, type: 'added', object, after }
        : { watch, type: 'updated', object, before, after };
    return { table: this.#with(this.#objects.with(after), before, after), change };
  }

  remove(namespace: string, name: string): { readonly table: WatchTable; readonly change?: StoreChange } {
    const before = this.get(namespace, name);
    if (before === undefined) {
      return { table: this.#of({ unavailable: this.#unavailable.without(namespace, name) }) };
    }
    const change: StoreChange = {
      watch: this.#definition.name,
      type: 'deleted',
      object: refOf(before),
      before,
    };
    return { table: this.#with(this.#objects.without(namespace, name), before, undefined), change };
  }

  /** With the object there, but only as one that is unavailable. */
  withUnavailable(object: KubeObject): WatchTable {
    const { namespace = '', name } = object.metadata;
    const { table } = this.remove(namespace, name);
    return table.#of({ unavailable: table.#unavailable.with(object) });
  }

  marked(state: { readonly served: boolean; readonly synced: boolean }): WatchTable {
    return this.#of({}, state);
  }

  #with(objects: ObjectList, before: KubeObject | undefined, after: KubeObject | undefined): WatchTable {
    const indexes = new Map<string, BucketMap<ObjectList>>();
    for (const [name, index] of this.#indexes) {
      indexes.set(name, reindex(index, this.#definition.indexes.get(name)!, before, after));
    }
    const { namespace = '', name } = (before ?? after)!.metadata;
    return this.#of({ objects, indexes, unavailable: this.#unavailable.without(namespace, name) });
  }

  /** The identical table where nothing is other than before. */
  #of(
    changed: Partial<Contents>,
    state: { readonly served: boolean; readonly synced: boolean } = this,
  ): WatchTable {
    const { objects = this.#objects, unavailable = this.#unavailable, indexes = this.#indexes } = changed;
    const isSame =
      objects === this.#objects &&
      unavailable === this.#unavailable &&
      state.served === this.served &&
      state.synced === this.synced;
    return isSame ? this : new WatchTable(this.#definition, { objects, indexes, unavailable }, state);
  }

  #paths(index: string): readonly string[] {
    const declared = this.#definition.indexes;
    if (declared.has(index)) return [index];
    const paths = index.split(',');
    const unknown = paths.find((path) => !declared.has(path));
    if (unknown === undefined) return paths;
    const known = declared.size === 0 ? 'it has none' : `it has ${[...declared.keys()].join(', ')}`;
    throw new Refused(
      `watch "${this.#definition.name}" has no index "${unknown}"; ${known}${didYouMean(unknown, declared.keys())}`,
    );
  }
}
