import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../haproxy/free-port.ts';
import { runtimeCommand } from '../haproxy/runtime-command.ts';
import { startHaproxy } from '../haproxy/start-haproxy.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import type { KeyPair } from '../cluster/certificates.ts';
import { handshake } from './handshake.ts';
import type { Pod } from './pod.ts';
import { served, type Probe } from './served.ts';

/** Everything that can be changed in a running worker, in a form that two workers share if they serve the same. */
export interface WorkerDump {
  readonly backends: readonly string[];
  /** `backend/server address:port weight state`. */
  readonly servers: readonly string[];
  readonly maps: Readonly<Record<string, readonly string[]>>;
  /** Name and fingerprint. */
  readonly certificates: readonly string[];
  readonly crtLists: Readonly<Record<string, readonly string[]>>;
  /** Those that lines of crt-lists name, with fingerprints: others are kept and used by nobody. */
  readonly authorities: readonly string[];
  /** For each name that lines of crt-lists have: what one is served who shows no certificate, and who shows each of the clients'. */
  readonly handshakes: readonly string[];
  /** For each key of a map that leads somewhere: what is answered, and by which servers. Empty where none was asked for. */
  readonly answers: readonly string[];
}

/** How a worker is looked at. */
export interface Looking {
  /** Those who shake hands with it. */
  readonly clients?: readonly KeyPair[];
  /** Where all servers that are ready answer. */
  readonly withAnswers?: boolean;
}

/** A worker, and where it serves; what crt-lists name by another port. */
export type Worker = Pick<Pod, 'workerSocket' | 'port' | 'tlsPort'>;

const lines = (text: string): string[] =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

export async function workerDump(
  { workerSocket, port, tlsPort }: Worker,
  { clients = [], withAnswers = false }: Looking = {},
): Promise<WorkerDump> {
  const ask = async (line: string): Promise<string[]> => lines(await runtimeCommand(workerSocket, line));
  const maps = (await ask('show map')).flatMap((line) => /\((maps\/[^)]*)\)/.exec(line)?.[1] ?? []);
  const crtLists = await ask('show ssl crt-list');
  // One after the other: HAProxy takes few connections at once.
  const each = async <N, T>(names: readonly N[], dump: (name: N) => Promise<T>): Promise<T[]> => {
    const rows: T[] = [];
    for (const name of names) rows.push(await dump(name));
    return rows;
  };
  const lists = Object.fromEntries(
    await each(crtLists, async (list) => {
      const rows = await ask(`show ssl crt-list ${list}`);
      return [list, rows.map((row) => row.replaceAll('\0', '')).toSorted()] as const;
    }),
  );
  const mentioned = Object.values(lists).flat();
  const servers = (await ask('show servers state')).slice(1).map(serverLine).toSorted();
  const entries = Object.fromEntries(
    await each(maps, async (map) => [map, await mapEntries(map, ask)] as const),
  );
  return {
    backends: (await ask('show backend')).toSorted(),
    servers,
    maps: entries,
    certificates: await each(
      (await ask('show ssl cert')).toSorted(),
      async (name) => `${name} ${fingerprints(await ask(`show ssl cert ${name}`)).join()}`,
    ),
    crtLists: lists,
    authorities: await each(
      (await ask('show ssl ca-file'))
        .map((row) => row.split(' ')[0] ?? '')
        .filter((name) => mentioned.some((line) => line.includes(name)))
        .toSorted(),
      async (name) => `${name} ${fingerprints(await ask(`show ssl ca-file ${name}`)).join()}`,
    ),
    handshakes: await each([...new Set(mentioned.flatMap(namesOf))].toSorted(), async (name) => {
      const shown = await Promise.all(
        [undefined, ...clients].map((client) => handshake(tlsPort, name, client)),
      );
      return `${name} ${shown.join()}`;
    }),
    answers: withAnswers ? await answers(port, entries, servers) : [],
  };
}

/** What is answered to each request that keys of maps are for. */
async function answers(
  port: number,
  maps: WorkerDump['maps'],
  servers: readonly string[],
): Promise<string[]> {
  const expected = (backend: string): number => servers.filter((line) => isServing(line, backend)).length;
  const rows: string[] = [];
  for (const probe of Object.entries(maps).flatMap(probesOf)) rows.push(await served(port, probe, expected));
  return rows.toSorted();
}

/** Requests that keys of maps are for: those of hosts, of beginnings of paths, and of regular expressions without much in them. */
function probesOf([map, entries]: readonly [map: string, entries: readonly string[]]): readonly Probe[] {
  const keys = entries.map((entry) => entry.slice(0, entry.indexOf(' ')));
  if (map === 'maps/hosts.map') return keys.map((host) => ({ host, path: '/other' }));
  if (map === 'maps/paths.map') return keys.map((path) => ({ host: 'other.test', path }));
  if (map !== 'maps/rules.map') return [];
  return keys.map((key) => ({
    host: 'other.test',
    path: key.replaceAll(/[\\^$]/g, '').replace(/^(?!\/)/, '/'),
  }));
}

/** Names that a line of a crt-list is for, as one would ask for them: `certs/a.pem [alpn h2] *.a.test`. */
function namesOf(line: string): readonly string[] {
  const words = line.replace(/\[.*\]/, '').split(' ');
  return words.slice(1).flatMap((word) => (word === '' ? [] : [word.replace('*', 'any')]));
}

/** Of what is shown of certificates. */
function fingerprints(shown: readonly string[]): readonly string[] {
  const found = shown.filter((line) => line.startsWith('SHA1'));
  return found.length > 0 ? found : [`nothing in: ${shown.join()}`];
}

/** Forced, inherited, or for want of an address; that the file once said `disabled` is remembered, but does nothing. */
const MAINTENANCE = 0x23;

function serverLine(row: string): string {
  const [, backend, , server, address, , admin, weight] = row.split(' ');
  const port = row.split(' ')[18];
  return `${backend}/${server} ${address}:${port} ${weight} ${(Number(admin) & MAINTENANCE) === 0 ? 'ready' : 'maint'}`;
}

/** Whether it is one of this backend that takes requests. */
function isServing(line: string, backend: string): boolean {
  return line.startsWith(`${backend}/`) && / [1-9]\d* ready$/.test(line);
}

/** Those whose order does not count are sorted. */
async function mapEntries(map: string, ask: (line: string) => Promise<string[]>): Promise<readonly string[]> {
  const entries = (await ask(`show map ${map}`)).map((line) => line.replace(/^0x\w+ /, ''));
  return map.includes('rules') ? entries : entries.toSorted();
}

/** What a HAProxy that starts on the files in place would run. */
export async function coldDump(pod: Pod, binary: string, looking: Looking = {}): Promise<WorkerDump> {
  const dir = await tempDir();
  await cp(join(pod.baseDir, 'current'), dir, { recursive: true, dereference: true });
  const config = await readFile(join(dir, 'haproxy.cfg'), 'utf8');
  const socket = join(dir, 'worker.sock');
  const [port, tlsPort] = [await freePort(), await freePort()];
  const moved = config
    .replaceAll(pod.workerSocket, socket)
    .replaceAll(`127.0.0.1:${pod.port}\n`, `127.0.0.1:${port}\n`)
    .replaceAll(`127.0.0.1:${pod.tlsPort} `, `127.0.0.1:${tlsPort} `);
  await writeFile(join(dir, 'haproxy.cfg'), moved);
  const haproxy = await startHaproxy({ binary, dir });
  try {
    return await workerDump({ workerSocket: socket, port, tlsPort }, looking);
  } finally {
    await haproxy.stop();
  }
}
