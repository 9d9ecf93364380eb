import {
  Cancelled,
  formatProblem,
  type KubeObject,
  type Log,
  type ResourceSource,
  type StoreSink,
  type WatchContent,
} from '@haptic/core/contract';
import type { FileTree } from '../files/file-tree.ts';
import type { LocatedObject } from './read-objects.ts';
import { uniteObjects, type OwnedObject } from './unite-objects.ts';
import { isOfKind, watchFilter, type WatchFilter } from './watch-filter.ts';

/** What one watch of one sink has been given: identity → object. */
type Delivered = Map<string, KubeObject>;

interface Watched {
  readonly definition: string;
  readonly watch: WatchContent;
  readonly filter: WatchFilter;
  readonly delivered: Delivered;
}

interface Subscription {
  readonly watches: ReadonlyMap<string, Watched>;
}

export interface FileResourcesOptions {
  readonly tree: FileTree<readonly LocatedObject[]>;
  readonly log: Log;
  /** Fills the tree, and follows it where that is wanted. */
  readonly start: () => Promise<void>;
}

/** Objects of files as watched resources. */
export class FileResources implements ResourceSource {
  readonly #tree: FileTree<readonly LocatedObject[]>;
  readonly #log: Log;
  readonly #start: () => Promise<void>;
  #started: Promise<void> | undefined;
  #wanted: readonly WatchContent[] = [];
  readonly #subscriptions = new Map<StoreSink, Subscription>();
  #objects: ReadonlyMap<string, OwnedObject> = new Map();
  #said: ReadonlySet<string> = new Set();
  #unwatched = '';

  constructor({ tree, log, start }: FileResourcesOptions) {
    this.#tree = tree;
    this.#log = log;
    this.#start = start;
  }

  /** What was last asked for. */
  get wanted(): readonly WatchContent[] {
    return this.#wanted;
  }

  /** Takes what the files hold now, and gives every sink what is new to it. */
  update(): void {
    const united = uniteObjects(this.#tree.values(), this.#objects);
    this.#objects = united.objects;
    this.#report(united.problems.map(formatProblem));
    for (const [sink, { watches }] of this.#subscriptions) {
      for (const [name, watched] of watches) this.#deliver(sink, name, watched);
    }
    this.#reportUnwatched();
  }

  async watch(
    watches: Readonly<Record<string, WatchContent>>,
    sink: StoreSink,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) throw new Cancelled();
    this.#wanted = Object.values(watches);
    await this.#read();
    if (signal.aborted) throw new Cancelled();
    const before = this.#subscriptions.get(sink);
    const subscription: Subscription = {
      watches: new Map(
        Object.entries(watches).map(([name, watch]) => [name, this.#fill(name, watch, sink, before)]),
      ),
    };
    this.#subscriptions.set(sink, subscription);
    const end = (): void => {
      if (this.#subscriptions.get(sink) === subscription) this.#subscriptions.delete(sink);
    };
    signal.addEventListener('abort', end, { once: true });
    this.#reportUnwatched();
  }

  /** Files are first read when they are first asked for: only then has every plugin added its checks. */
  async #read(): Promise<void> {
    this.#started ??= this.#start().then(() => this.update());
    try {
      await this.#started;
    } catch (error) {
      this.#started = undefined;
      throw error;
    }
  }

  /** Fills a watch, unless the sink has it already and it is the same. */
  #fill(name: string, watch: WatchContent, sink: StoreSink, before: Subscription | undefined): Watched {
    const definition = JSON.stringify(watch);
    const kept = before?.watches.get(name);
    if (kept?.definition === definition) return kept;
    const filter = watchFilter(watch);
    const delivered = this.#matching(filter);
    sink.replace(name, [...delivered.values()]);
    return { definition, watch, filter, delivered };
  }

  #matching(filter: WatchFilter): Delivered {
    const matching = [...this.#objects].filter(([, { object }]) => filter(object));
    return new Map(matching.map(([identity, { object }]) => [identity, object]));
  }

  #deliver(sink: StoreSink, name: string, { filter, delivered }: Watched): void {
    const now = this.#matching(filter);
    const upserts = [...now]
      .filter(([identity, object]) => delivered.get(identity) !== object)
      .map(([, object]) => object);
    const gone = [...delivered].filter(([identity]) => !now.has(identity));
    if (upserts.length === 0 && gone.length === 0) return;
    const deletes = gone.map(([, { metadata }]) => ({
      namespace: metadata.namespace ?? '',
      name: metadata.name,
    }));
    sink.apply(name, { upserts, deletes });
    delivered.clear();
    for (const [identity, object] of now) delivered.set(identity, object);
  }

  /** Says which kinds of objects nobody asks for: a misspelt API version is found here. */
  #reportUnwatched(): void {
    if (this.#subscriptions.size === 0) return;
    const watches = [...this.#subscriptions.values()].flatMap((subscription) => [
      ...subscription.watches.values(),
    ]);
    const unwatched = [...this.#objects.values()].filter(
      ({ object }) => !watches.some(({ watch }) => isOfKind(watch, object)),
    );
    const kinds = [
      ...new Set(unwatched.map(({ object }) => `${object.apiVersion} ${object.kind}`)),
    ].toSorted();
    const before = this.#unwatched;
    this.#unwatched = kinds.join(', ');
    if (kinds.length > 0 && this.#unwatched !== before) {
      this.#log.info({ kinds }, 'some objects are of kinds that nothing watches');
    }
  }

  /** Says once that an object stands in two files, and once that it no longer does: who sees the one must see the other. */
  #report(problems: readonly string[]): void {
    const before = this.#said;
    this.#said = new Set(problems);
    for (const problem of this.#said) {
      if (!before.has(problem))
        this.#log.error({ problem }, 'object is in two files, the first known one stays');
    }
    for (const problem of before) {
      if (!this.#said.has(problem)) this.#log.warn({ problem }, 'object is no longer in two files');
    }
  }
}
