import type { CrtListLine, FileSet, Operation, RuntimeServer } from '@haptic/core/contract';
import { readConfig, type ModelBackend, type ModelServer } from './model-config.ts';

/** HAProxy said no. */
export class OpRefused extends Error {
  override readonly name = 'OpRefused';
}

function refuse(condition: boolean, words: string): void {
  if (condition) throw new OpRefused(words);
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Server = Mutable<ModelServer>;
type Backend = Omit<Mutable<ModelBackend>, 'servers'> & { readonly servers: Map<string, Server> };
type Of<N extends Operation['op']> = Extract<Operation, { readonly op: N }>;

function endpointOf({ address, port }: { readonly address: string; readonly port: number }): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function bornFrom(server: RuntimeServer): Server {
  const { weight, state, checked, keywords, guid } = server;
  return { endpoint: endpointOf(server), weight, state, checked, keywords: keywords.join(' '), guid };
}

function lineKey({ certificate, options, sni }: CrtListLine): string {
  return JSON.stringify([certificate, options, sni]);
}

/**
 * A running HAProxy beside an agent, as far as operations go: what they need to be there, what they change, and what is left for
 * later. It begins with what a cold start makes of the files.
 */
export class ModelWorker {
  readonly #version: string;
  readonly #core: string;
  readonly #profiles: ReadonlyMap<string, readonly string[]>;
  readonly #backends: Map<string, Backend>;
  readonly #maps: Map<string, readonly (readonly [key: string, value: string])[]>;
  readonly #crtLists: Map<string, readonly CrtListLine[]>;
  readonly #certificates: Map<string, string>;
  /** Removals that wait: `server b/s`, `backend b`, `map m k`. */
  readonly #waiting = new Map<string, () => void>();
  #files: FileSet;

  constructor(files: FileSet, version = '3.4.7') {
    const config = readConfig(files);
    this.#files = files;
    this.#version = version;
    this.#core = config.core;
    this.#profiles = config.profiles;
    this.#backends = new Map(
      [...config.backends].map(([name, backend]) => [
        name,
        { ...backend, servers: new Map([...backend.servers].map(([key, server]) => [key, { ...server }])) },
      ]),
    );
    this.#maps = new Map(config.maps);
    this.#crtLists = new Map(config.crtLists);
    this.#certificates = new Map(config.certificates);
  }

  /** The files that are in place from now on. */
  place(files: FileSet): void {
    this.#files = files;
  }

  /** @throws OpRefused */
  run(op: Operation): void {
    switch (op.op) {
      case 'map.add':
      case 'map.set':
      case 'map.del':
      case 'map.replace':
        return this.#changeMap(op);
      case 'server.add':
        return this.#addServer(this.#backend(op.backend), op.backend, op.server);
      case 'server.set':
        return this.#setServer(op);
      case 'server.del':
        return this.#removeServer(op);
      case 'backend.add':
        return this.#addBackend(op);
      case 'backend.del':
        return this.#removeBackend(op);
      case 'crtlist.add':
      case 'crtlist.del':
        return this.#changeCrtList(op);
      case 'cert.add':
      case 'cert.set':
      case 'cert.del':
        return this.#changeCertificate(op);
      default:
        throw new OpRefused(`the model knows no ${op.op}`);
    }
  }

  /** Everything that waits comes to its end. */
  settle(): void {
    for (const [key, end] of this.#waiting) {
      this.#waiting.delete(key);
      end();
    }
  }

  get profiles(): ReadonlySet<string> {
    return new Set(this.#profiles.keys());
  }

  get certificates(): ReadonlySet<string> {
    return new Set(this.#certificates.keys());
  }

  isServed(backend: string): boolean {
    return this.#backends.get(backend)?.published === true;
  }

  entries(map: string): ReadonlyMap<string, string> {
    return new Map(this.#maps.get(map));
  }

  /** Backends with a server that takes requests. */
  get usable(): ReadonlySet<string> {
    const usable = [...this.#backends].filter(([, { servers }]) =>
      [...servers.values()].some(({ state, weight }) => state === 'ready' && weight > 0),
    );
    return new Set(usable.map(([name]) => name));
  }

  /** Whether a spare backend sends nobody elsewhere. */
  servesFor(spare: string, backend: string): boolean {
    const servers = [...(this.#backends.get(spare)?.servers.values() ?? [])];
    return servers.every(({ state, guid }) => state === 'maint' || guid.startsWith(`srv:${backend}:`));
  }

  takesServers(backend: string): boolean {
    return this.#backends.get(backend)?.takesServers === true;
  }

  server(backend: string, name: string): ModelServer | undefined {
    return this.#backends.get(backend)?.servers.get(name);
  }

  /** Everything that decides what is served, in a form that compares; the order of what has none is taken out. */
  snapshot(ordered: (map: string) => boolean): unknown {
    const sorted = <T>(entries: Iterable<readonly [string, T]>): readonly (readonly [string, T])[] =>
      [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      core: this.#core,
      backends: sorted(
        [...this.#backends].map(([name, backend]) => [
          name,
          { ...backend, servers: sorted(backend.servers) },
        ]),
      ),
      maps: sorted([...this.#maps].map(([map, list]) => [map, ordered(map) ? list : sorted(list)])),
      crtLists: sorted([...this.#crtLists].map(([list, lines]) => [list, meaning(lines)])),
      certificates: sorted(this.#certificates),
    };
  }

  #backend(name: string): Backend {
    const found = this.#backends.get(name);
    if (found === undefined) throw new OpRefused('No such backend.');
    return found;
  }

  #changeMap(op: Of<'map.add' | 'map.set' | 'map.del' | 'map.replace'>): void {
    const list = this.#maps.get(op.map);
    if (list === undefined) throw new OpRefused('Unknown map identifier.');
    if (op.op === 'map.replace') {
      for (const key of this.#waiting.keys()) if (key.startsWith(`map ${op.map} `)) this.#waiting.delete(key);
      this.#maps.set(op.map, readConfig(this.#files).maps.get(op.map) ?? []);
      return;
    }
    const key = `map ${op.map} ${op.key}`;
    const waits = this.#waiting.delete(key);
    const has = list.some(([name]) => name === op.key);
    refuse(op.op === 'map.add' && has && !waits, 'two entries of one key');
    refuse(op.op !== 'map.add' && !has, 'entry not found.');
    const remove = (): void => {
      this.#maps.set(
        op.map,
        this.#maps.get(op.map)!.filter(([name]) => name !== op.key),
      );
    };
    if (op.op === 'map.del') {
      if (op.deferred) this.#waiting.set(key, remove);
      else remove();
      return;
    }
    remove();
    this.#maps.set(op.map, [...this.#maps.get(op.map)!, [op.key, op.value]]);
  }

  #addServer(backend: Backend, name: string, server: RuntimeServer): void {
    refuse(!backend.takesServers, 'Backend does not support dynamic servers');
    refuse(server.keywords.includes('redir'), "'redir' option is not accepted for dynamic server");
    const key = `server ${name}/${server.name}`;
    const born = bornFrom(server);
    const old = backend.servers.get(server.name);
    const end = this.#waiting.get(key);
    this.#waiting.delete(key);
    if (end !== undefined && (old?.keywords !== born.keywords || old.guid !== born.guid)) end();
    else
      refuse(
        end === undefined && old !== undefined,
        'Already exists a server with the same name in backend.',
      );
    backend.servers.set(server.name, born);
  }

  #setServer({ backend, name, endpoint, weight, state }: Of<'server.set'>): void {
    const server = this.#backend(backend).servers.get(name);
    if (server === undefined) throw new OpRefused('No such server.');
    refuse(this.#waiting.has(`server ${backend}/${name}`), 'the server is about to go');
    if (endpoint !== undefined) server.endpoint = endpointOf(endpoint);
    if (weight !== undefined) server.weight = weight;
    if (state !== undefined) server.state = state;
  }

  #removeServer({ backend, name }: Of<'server.del'>): void {
    const { servers } = this.#backend(backend);
    const server = servers.get(name);
    if (server === undefined) throw new OpRefused('No such server.');
    server.state = 'maint';
    this.#waiting.set(`server ${backend}/${name}`, () => void servers.delete(name));
  }

  #addBackend({ name, profile, mode, guid, servers }: Of<'backend.add'>): void {
    refuse(this.#version < '3.4', "Unknown command: 'add'");
    const directives = this.#profiles.get(profile);
    if (directives === undefined) throw new OpRefused(`Cannot find default proxy '${profile}'.`);
    const waiting = this.#waiting.get(`backend ${name}`);
    this.#waiting.delete(`backend ${name}`);
    waiting?.();
    const taken = this.#backends.has(name) || this.#profiles.has(name);
    refuse(taken, `name is already used by other proxy '${name}'`);
    const backend: Backend = {
      profile,
      mode,
      guid,
      own: [],
      takesServers: true,
      published: true,
      servers: new Map(),
    };
    this.#backends.set(name, backend);
    for (const server of servers) this.#addServer(backend, name, server);
  }

  #removeBackend({ name, servers }: Of<'backend.del'>): void {
    refuse(this.#version < '3.4', "Unknown command: 'unpublish'");
    const backend = this.#backend(name);
    const there = [...backend.servers.keys()].filter(
      (server) => !this.#waiting.has(`server ${name}/${server}`),
    );
    refuse(
      there.sort().join() !== [...servers].sort().join(),
      'Only a backend without server can be deleted.',
    );
    refuse(backend.own.length > 0, 'This proxy cannot be removed at runtime');
    backend.published = false;
    this.#waiting.set(`backend ${name}`, () => {
      for (const server of backend.servers.keys()) this.#waiting.delete(`server ${name}/${server}`);
      this.#backends.delete(name);
    });
  }

  #changeCrtList(op: Of<'crtlist.add' | 'crtlist.del'>): void {
    const lines = this.#crtLists.get(op.list);
    if (lines === undefined) throw new OpRefused('no such crt-list');
    const key = lineKey(op.line);
    if (op.op === 'crtlist.add') {
      refuse(!this.#certificates.has(op.line.certificate), 'certificate is empty!');
      this.#crtLists.set(op.list, [...lines, op.line]);
      return;
    }
    const index = lines.findIndex((line) => lineKey(line) === key);
    refuse(index === -1, 'no such line');
    this.#crtLists.set(op.list, lines.toSpliced(index, 1));
  }

  #changeCertificate(operation: Of<'cert.add' | 'cert.set' | 'cert.del'>): void {
    const { op, path } = operation;
    const has = this.#certificates.has(path);
    if (op === 'cert.set' && !has && operation.ifLoaded === true) return;
    refuse(op === 'cert.add' && has, `Certificate '${path}' already exists!`);
    refuse(
      op !== 'cert.add' && !has,
      `Can't replace a certificate which is not referenced by the configuration!`,
    );
    if (op !== 'cert.del') {
      this.#certificates.set(path, new TextDecoder().decode(this.#files.read(path)));
      return;
    }
    const inUse = [...this.#crtLists.values()].flat().some(({ certificate }) => certificate === path);
    refuse(inUse, 'in use, cannot be deleted!');
    this.#certificates.delete(path);
  }
}

/** What a crt-list says: its default, its lines, and which of two comes first where that matters. */
function meaning(lines: readonly CrtListLine[]): unknown {
  const clash = (a: CrtListLine, b: CrtListLine): boolean =>
    a.sni.length === 0 || b.sni.length === 0 || a.sni.some((filter) => b.sni.includes(filter));
  const order = lines.flatMap((line, at) =>
    lines
      .slice(at + 1)
      .flatMap((later) => (clash(line, later) ? [`${lineKey(line)} < ${lineKey(later)}`] : [])),
  );
  return { first: lines[0] && lineKey(lines[0]), lines: lines.map(lineKey).sort(), order: order.sort() };
}
