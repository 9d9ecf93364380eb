import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Meter, Operation, RuntimeServer } from '@haptic/core/contract';
import { SocketFailure } from '../haproxy/exchange.ts';
import { addBackend, awaitBackend, deleteBackend, retireBackend } from './backend-commands.ts';
import { OperationRefused, orGone, type Command } from './command.ts';
import { ask, converse, type WorkerLine } from './conversation.ts';
import { backendId, idOf, mapKeyId, serverId, type DeferredDelete } from './deferred-delete.ts';
import type { DeferredDeletes } from './deferred-deletes.ts';
import { fillMap, mapAdd, mapDel, mapSet, preparedVersion, prepareMap } from './map-commands.ts';
import type { Step } from '../steps.ts';
import { OPERATION_ERRORS } from '../metrics/definitions.ts';
import {
  addServer,
  awaitServer,
  deleteServer,
  disableServer,
  reviveServer,
  setServer,
} from './server-commands.ts';
import {
  addCrtLine,
  deleteCaFile,
  deleteCertificate,
  deleteCrtLine,
  newCaFile,
  newCertificate,
  setCaFile,
  setCertificate,
  showCrtList,
  whereLoaded,
} from './tls-commands.ts';

export interface OperationFacts {
  readonly line: WorkerLine;
  readonly deferred: DeferredDeletes;
  /** Of the tree whose files the worker is brought in step with. */
  readonly folder: string;
  /** Wall clock, milliseconds: when a deferred removal from a map is due. */
  readonly mapKeysDue: number;
  readonly onStep: (step: Step) => void;
  readonly meter: Meter;
}

export type RunResult =
  /** `deletes`: what is out of use and still has to go. */
  | { readonly kind: 'done'; readonly deletes: readonly DeferredDelete[] }
  /** HAProxy's words about the first one that it did not take; those behind it were not tried. */
  | { readonly kind: 'refused'; readonly words: string }
  /** How far it got is not known. */
  | { readonly kind: 'unknown'; readonly message: string };

/** How long an add waits for a namesake that is on its way out. */
const WAIT = '2s';

/** Brings operations to the running worker, in their order. */
export async function runOperations(
  operations: readonly Operation[],
  facts: OperationFacts,
): Promise<RunResult> {
  const run = new OperationRun(facts);
  try {
    for (const operation of operations) await run.take(operation);
    await run.flush();
  } catch (error) {
    const result = failure(error);
    facts.meter.count(OPERATION_ERRORS, { op: run.family, result: result.kind });
    return result;
  }
  return { kind: 'done', deletes: run.deletes };
}

/** @throws what is no failure of an operation. */
function failure(error: unknown): Exclude<RunResult, { kind: 'done' }> {
  if (error instanceof OperationRefused) return { kind: 'refused', words: error.message };
  if (error instanceof SocketFailure) return { kind: 'unknown', message: error.message };
  throw error;
}

/** Commands are collected as long as one may run although the one before it was refused. */
class OperationRun {
  /** By what the state calls them. */
  readonly #deletes = new Map<string, DeferredDelete>();
  readonly #facts: OperationFacts;
  #commands: Command[] = [];
  /** Of what was taken last. */
  family = '';
  /** Numbered lines of crt-lists; a deletion does not change the other numbers. */
  readonly #crtLists = new Map<string, string>();

  constructor(facts: OperationFacts) {
    this.#facts = facts;
  }

  get deletes(): readonly DeferredDelete[] {
    return [...this.#deletes.values()];
  }

  async take(operation: Operation): Promise<void> {
    // Entries of a map must not point at what was refused, and nothing may go while something points at it.
    const family = operation.op.replace(/\.(?:add|set|replace)$/, '');
    if (family !== this.family) await this.flush();
    this.family = family;
    const commands = await this.#commandsFor(operation);
    this.#commands.push(...commands);
  }

  async flush(): Promise<void> {
    const commands = this.#commands;
    this.#commands = [];
    if (commands.length === 0) return;
    const { deferred, line } = this.#facts;
    await deferred.turns.change(() => converse(commands, line));
    this.#facts.onStep('operated');
  }

  async #commandsFor(operation: Operation): Promise<readonly Command[]> {
    const { mapKeysDue } = this.#facts;
    switch (operation.op) {
      case 'map.add':
      case 'map.set': {
        const { map, key, value } = operation;
        const isThere =
          (await this.#wantedAgain(mapKeyId(map, key))) !== undefined || operation.op === 'map.set';
        return [isThere ? mapSet(map, key, value) : mapAdd(map, key, value)];
      }
      case 'map.del': {
        const { map, key } = operation;
        if (!operation.deferred) return [mapDel(map, key)];
        this.#defer({ kind: 'map', map, key, due: mapKeysDue });
        return [];
      }
      case 'map.replace':
        return await this.#replaceMap(operation);
      case 'server.add':
        return await this.#addServer(operation.backend, operation.server);
      case 'server.set':
        return setServer(operation);
      case 'server.del': {
        const { op: _, keywords, ...server } = operation;
        this.#defer({ kind: 'server', ...server, ...(keywords && { keywords: [...keywords] }) });
        return [disableServer(operation.backend, operation.name)];
      }
      case 'backend.add':
        return [...(await this.#removeNamesake(operation.name)), ...addBackend(operation)];
      case 'backend.del':
        this.#defer({ kind: 'backend', name: operation.name, servers: [...operation.servers] });
        return retireBackend(operation);
      case 'cert.add':
        return [
          newCertificate(operation.path),
          ...setCertificate(operation.path, this.#text(operation.path)),
        ];
      case 'cert.set':
        return ifLoaded(operation, setCertificate(operation.path, this.#text(operation.path)));
      case 'cert.del':
        return [deleteCertificate(operation.path)];
      case 'ca.add':
        return [newCaFile(operation.path), ...setCaFile(operation.path, this.#text(operation.path))];
      case 'ca.set':
        return ifLoaded(operation, setCaFile(operation.path, this.#text(operation.path)));
      case 'ca.del':
        return [deleteCaFile(operation.path)];
      case 'crtlist.add':
        this.#crtLists.delete(operation.list);
        return [addCrtLine(operation.list, operation.line)];
      case 'crtlist.del': {
        const { list, line } = operation;
        return [deleteCrtLine(list, line, await this.#shownCrtList(list))];
      }
    }
  }

  #defer(item: DeferredDelete): void {
    this.#deletes.set(idOf(item), item);
  }

  /** It must not go, whether an apply before this one put it out of use or an operation before this one did. */
  async #wantedAgain(id: string): Promise<DeferredDelete | undefined> {
    const own = this.#deletes.get(id);
    this.#deletes.delete(id);
    return (await this.#facts.deferred.take(id)) ?? own;
  }

  /** Needs an answer before it can go on. */
  async #replaceMap(operation: Extract<Operation, { op: 'map.replace' }>): Promise<readonly Command[]> {
    const { deferred, line } = this.#facts;
    const { map } = operation;
    for (const item of [...deferred.items, ...this.deletes]) {
      if (item.kind === 'map' && item.map === map) await this.#wantedAgain(idOf(item));
    }
    await this.flush();
    const version = preparedVersion(await ask(prepareMap(operation), line));
    return fillMap(map, version, this.#text(map), line.limits.payload);
  }

  async #addServer(backend: string, server: RuntimeServer): Promise<readonly Command[]> {
    const old = await this.#wantedAgain(serverId(backend, server.name));
    if (old?.kind !== 'server') return addServer(backend, server);
    if (old.guid === server.guid && sameWords(old.keywords, server.keywords))
      return reviveServer(backend, server);
    return [...removal(backend, server.name), ...addServer(backend, server)];
  }

  async #removeNamesake(name: string): Promise<readonly Command[]> {
    const old = await this.#wantedAgain(backendId(name));
    if (old?.kind !== 'backend') return [];
    const servers = old.servers.flatMap((server) => removal(name, server));
    return [...servers, orGone(awaitBackend(name, WAIT)), orGone(deleteBackend(name))];
  }

  async #shownCrtList(list: string): Promise<string> {
    const shown = this.#crtLists.get(list) ?? (await ask(showCrtList(list), this.#facts.line));
    this.#crtLists.set(list, shown);
    return shown;
  }

  #text(path: string): string {
    return readFileSync(join(this.#facts.folder, path), 'utf8');
  }
}

function ifLoaded(operation: { readonly ifLoaded?: true }, commands: readonly Command[]): readonly Command[] {
  return operation.ifLoaded === true ? whereLoaded(commands) : commands;
}

function removal(backend: string, name: string): readonly Command[] {
  return [orGone(awaitServer(backend, name, WAIT)), orGone(deleteServer(backend, name))];
}

function sameWords(a: readonly string[] | undefined, b: readonly string[]): boolean {
  return a?.length === b.length && a.every((word, index) => word === b[index]);
}
