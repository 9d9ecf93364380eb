import type { Log } from '@haptic/core/contract';
import type { Tree } from '../files/tree.ts';
import { SocketFailure } from '../haproxy/exchange.ts';
import type { DeferredDelete } from '../runtime/deferred-delete.ts';
import { expectedHoldings, type ExpectedHoldings } from '../runtime/expected-holdings.ts';
import type { Turns } from '../runtime/turns.ts';
import { workerHoldings, type WorkerHoldings } from '../runtime/worker-holdings.ts';

/** More of them say nothing more. */
const MOST = 20;

export interface DriftQuestion {
  /** What the worker is in step with. */
  readonly tree: Tree;
  readonly pid: number;
  /** What may be there still. */
  readonly deferred: () => readonly DeferredDelete[];
  /** Of whoever changes the worker. */
  readonly turns: Turns;
  /** Whether all this is so still. */
  readonly isCurrent: () => boolean;
}

/** Compares what the running worker has with what the files in place say: somebody else may have changed it. */
export class WorkerDrift {
  readonly #socket: string;
  readonly #log: Log;
  /** What was told, and of which worker. */
  readonly #told = new Map<string, number>();

  constructor(socket: string, log: Log) {
    this.#socket = socket;
    this.#log = log;
  }

  /** In words, one for each thing. Nothing where an apply comes in between, or the worker does not answer. */
  async look(question: DriftQuestion, signal: AbortSignal): Promise<string[]> {
    const { pid, deferred, isCurrent } = question;
    const before = deferred();
    const found = await this.#compare(question, before, signal);
    if (found === undefined || !isCurrent() || deferred().length !== before.length) return [];
    for (const what of this.#told.keys()) if (!found.has(what)) this.#told.delete(what);
    return [...found].flatMap(([what, words]) => (this.#isNews(what, pid) ? [words] : [])).slice(0, MOST);
  }

  /** What a reload did not mend is how these files are read, and another reload would not mend it either. */
  #isNews(what: string, pid: number): boolean {
    const told = this.#told.get(what);
    if (told === undefined) this.#log.warn({ what }, 'the worker does not hold what the files say');
    if (told === undefined) this.#told.set(what, pid);
    return told === undefined || told === pid;
  }

  async #compare(
    { tree, turns }: DriftQuestion,
    deferred: readonly DeferredDelete[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string> | undefined> {
    try {
      const held = await turns.look(() => workerHoldings(this.#socket, signal));
      return held && differences(expectedHoldings(tree), held, { tree, deferred });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SocketFailure) return undefined;
      // A file is gone: that is told already.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}

interface Allowance {
  readonly tree: Tree;
  readonly deferred: readonly DeferredDelete[];
}

/** What each is about, and the words for it. */
function differences(
  expected: ExpectedHoldings,
  held: WorkerHoldings,
  { tree, deferred }: Allowance,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const tell = (what: string, words: string): unknown => found.set(what, `worker: ${what} ${words}`);
  for (const [map, count] of expected.maps) {
    const has = held.maps.get(map);
    const waiting = deferred.filter((item) => item.kind === 'map' && item.map === map).length;
    if (has !== undefined && (has < count || has > count + waiting))
      tell(map, `has ${has} entries, expected ${count}`);
  }
  for (const name of expected.certificates)
    if (tree.record.files.get(name) !== undefined && !held.certificates.has(name)) tell(name, 'is missing');
  for (const name of held.certificates)
    if (tree.record.files.get(name) === undefined && !/^[/@]/.test(name)) tell(name, 'should not be there');
  if (expected.servers === undefined) return found;
  for (const name of [...expected.servers.values()].flatMap((names) => [...names]))
    if (!held.servers.has(name)) tell(`server ${name}`, 'is missing');
  const goes = (backend: string, name: string): boolean =>
    deferred.some(
      (item) =>
        (item.kind === 'server' && item.backend === backend && item.name === name) ||
        (item.kind === 'backend' && item.name === backend),
    );
  for (const server of held.servers) {
    const [backend = '', name = ''] = server.split('/', 2);
    if (expected.servers.get(backend)?.has(server) === false && !goes(backend, name))
      tell(`server ${server}`, 'should not be there');
  }
  return found;
}
