import {
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
import { watchFilter, type WatchFilter } from './watch-filter.ts';

/** What one watch of one sink has been given: identity → object. */
type Delivered = Map<string, KubeObject>;

interface Watched {
  readonly definition: string;
  readonly filter: WatchFilter;
  readonly delivered: Delivered;
}

interface Subscription {
  readonly watches: ReadonlyMap<string, Watched>;
}

/** Objects of files as watched resources. */
export class FileResources implements ResourceSource {
  readonly #tree: FileTree<readonly LocatedObject[]>;
  readonly #log: Log;
  readonly #subscriptions = new Map<StoreSink, Subscription>();
  #objects: ReadonlyMap<string, OwnedObject> = new Map();
  #said: ReadonlySet<string> = new Set();

  constructor(tree: FileTree<readonly LocatedObject[]>, log: Log) {
    this.#tree = tree;
    this.#log = log;
  }

  /** Takes what the files hold now, and gives every sink what is new to it. */
  update(): void {
    const united = uniteObjects(this.#tree.values(), this.#objects);
    this.#objects = united.objects;
    this.#report(united.problems.map(formatProblem));
    for (const [sink, { watches }] of this.#subscriptions) {
      for (const [name, watched] of watches) this.#deliver(sink, name, watched);
    }
  }

  watch(
    watches: Readonly<Record<string, WatchContent>>,
    sink: StoreSink,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const before = this.#subscriptions.get(sink);
    const subscription: Subscription = {
      watches: new Map(
        Object.entries(watches).map(([name, watch]) => [name, this.#start(name, watch, sink, before)]),
      ),
    };
    this.#subscriptions.set(sink, subscription);
    const end = (): void => {
      if (this.#subscriptions.get(sink) === subscription) this.#subscriptions.delete(sink);
    };
    signal.addEventListener('abort', end, { once: true });
    return Promise.resolve();
  }

  /** Fills a watch, unless the sink has it already and it is the same. */
  #start(name: string, watch: WatchContent, sink: StoreSink, before: Subscription | undefined): Watched {
    const definition = JSON.stringify(watch);
    const kept = before?.watches.get(name);
    if (kept?.definition === definition) return kept;
    const filter = watchFilter(watch);
    const delivered = this.#matching(filter);
    sink.replace(name, [...delivered.values()]);
    return { definition, filter, delivered };
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

  /** Says once that an object stands in two files, and once that it no longer does. */
  #report(problems: readonly string[]): void {
    const before = this.#said;
    this.#said = new Set(problems);
    for (const problem of this.#said) {
      if (!before.has(problem))
        this.#log.error({ problem }, 'object is in two files, the first known one stays');
    }
    for (const problem of before) {
      if (!this.#said.has(problem)) this.#log.info({ problem }, 'object is no longer in two files');
    }
  }
}
