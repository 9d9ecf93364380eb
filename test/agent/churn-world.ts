import type { Load } from '../haproxy/load/index.ts';
import type { Texts } from './fault-scenarios.ts';
import type { World, WorldServer } from './world.ts';

/** One apply after the other, each of another kind. */
export const CHANGES = [
  'server added',
  'map entry',
  'route added',
  'certificate',
  'server removed',
  'line of a crt-list',
  'authority',
  'profile',
  'route removed',
  'file',
  'leaf',
  'server weight',
  'regular expressions',
  'profile',
] as const;

const body = 'balance roundrobin\n';
const line = (certificate: string, sni: readonly string[], options = '') => ({ certificate, options, sni });

interface Served {
  readonly name: string;
  readonly port: number;
}

/** A site that is served all the time, while everything about it changes. */
export class ChurnWorld {
  readonly #load: Load;
  readonly #texts: Texts & { readonly roots: readonly string[] };
  readonly #delayMs: number;
  #servers: readonly Served[] = [];
  #world: World = { backends: {}, hosts: {} };
  #weight = 1;

  private constructor(load: Load, texts: Texts & { readonly roots: readonly string[] }, delayMs: number) {
    this.#load = load;
    this.#texts = texts;
    this.#delayMs = delayMs;
  }

  static async create(
    load: Load,
    texts: Texts & { readonly roots: readonly string[] },
    delayMs: number,
  ): Promise<ChurnWorld> {
    const churn = new ChurnWorld(load, texts, delayMs);
    await churn.#addServer(0);
    await churn.#addServer(1);
    churn.#world = {
      backends: {},
      hosts: { 'a.test': 'app' },
      certificates: { a: texts.pem },
      authorities: { root: texts.roots[0]! },
      crtLines: [line('a', ['a.test']), line('a', ['v.test'], 'verify optional ca-file ca/root.pem')],
    };
    return churn;
  }

  /** As it is now. */
  get world(): World {
    const servers = Object.fromEntries(
      this.#servers.map(({ name, port }): [string, WorldServer] => [name, { port, weight: this.#weight }]),
    );
    return { ...this.#world, backends: { ...this.#world.backends, app: { body, servers } } };
  }

  /** Changes it; answers what must be over before what is out of use may end, and how it ends. */
  async change(index: number): Promise<{ readonly gone: string; end(): Promise<void> } | undefined> {
    const { pem, otherPem, roots } = this.#texts;
    const turn = Math.floor(index / CHANGES.length);
    const pick = <T>(...these: readonly T[]): T => these[turn % these.length]!;
    const { hosts, crtLines = [] } = this.#world;
    switch (CHANGES[index % CHANGES.length]!) {
      case 'server added':
        await this.#addServer(index);
        return undefined;
      case 'server removed':
        return this.#removeServer();
      case 'server weight':
        this.#weight = pick(2, 1);
        return undefined;
      case 'map entry':
        return this.#set({ hosts: { 'a.test': 'app', [`h${turn}.test`]: 'app' } });
      case 'route added':
        return this.#set({
          backends: { more: { body, servers: { a: { port: this.#servers[0]!.port } } } },
          hosts: { ...hosts, 'more.test': 'more' },
        });
      case 'route removed':
        return this.#set({
          backends: {},
          hosts: Object.fromEntries(Object.entries(hosts).filter(([, backend]) => backend === 'app')),
        });
      case 'certificate':
        return this.#set({ certificates: { a: pick(otherPem, pem) } });
      case 'line of a crt-list':
        return this.#set({
          crtLines: [...crtLines.slice(0, 2), ...pick([line('a', ['b.test'], 'alpn h2')], [])],
        });
      case 'authority':
        return this.#set({ authorities: { root: pick(roots[1]!, roots[0]!) } });
      case 'file':
        return this.#set({ files: { note: String(index) } });
      case 'leaf':
        return this.#set({ leaves: { app: String(index) } });
      case 'regular expressions':
        return this.#set({ rules: pick<World['rules']>([['^/r1', 'app']], [['^/r2', 'app']]) ?? [] });
      case 'profile':
        return this.#set({ extra: `http-response set-header x-generation ${index}` });
    }
  }

  #set(parts: Partial<World>): undefined {
    this.#world = { ...this.#world, ...parts };
  }

  async #addServer(index: number): Promise<void> {
    this.#servers = [
      ...this.#servers,
      { name: `pod-${index}`, port: await this.#load.openOrigin(this.#delayMs) },
    ];
  }

  #removeServer(): { readonly gone: string; end(): Promise<void> } {
    const [oldest, ...rest] = this.#servers;
    this.#servers = rest;
    return { gone: `server app/${oldest!.name}`, end: () => this.#load.closeOrigin(oldest!.port) };
  }
}
