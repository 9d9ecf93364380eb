import type { CrtListLine, FileSet } from '@haptic/core/contract';

/** What a worker knows of a server. */
export interface ModelServer {
  readonly endpoint: string;
  readonly weight: number;
  readonly state: 'ready' | 'maint';
  /** Health checks run. */
  readonly checked: boolean;
  readonly keywords: string;
  readonly guid: string;
}

export interface ModelBackend {
  readonly profile: string;
  readonly mode: string;
  readonly guid: string;
  /** Directives of its own. */
  readonly own: readonly string[];
  readonly takesServers: boolean;
  readonly published: boolean;
  readonly servers: ReadonlyMap<string, ModelServer>;
}

/** What a worker has loaded. */
export interface ModelConfig {
  /** Of sections that are neither profiles nor backends. */
  readonly core: string;
  readonly profiles: ReadonlyMap<string, readonly string[]>;
  readonly backends: ReadonlyMap<string, ModelBackend>;
  readonly maps: ReadonlyMap<string, readonly (readonly [key: string, value: string])[]>;
  readonly crtLists: ReadonlyMap<string, readonly CrtListLine[]>;
  /** Contents by path, of those that a crt-list names. */
  readonly certificates: ReadonlyMap<string, string>;
}

const decoder = new TextDecoder();

function parseServer(words: readonly string[]): readonly [name: string, server: ModelServer] {
  const [, name = '', endpoint = '', ...rest] = words;
  let weight = 1;
  let state: 'ready' | 'maint' = 'ready';
  let at = 0;
  if (rest[at] === 'weight') weight = Number(rest[(at += 2) - 1]);
  if (rest[at] === 'disabled') state = rest[at++] === 'disabled' ? 'maint' : 'ready';
  const end = rest.lastIndexOf('guid');
  const keywords = rest.slice(at, end);
  const guid = rest[end + 1] ?? '';
  return [
    name,
    { endpoint, weight, state, checked: keywords.includes('check'), keywords: keywords.join(' '), guid },
  ];
}

/** HAProxy's rule: the last `balance` that counts must be one that takes servers at run time. */
function isDynamic(directives: readonly string[]): boolean {
  const balance = directives.findLast((line) => line.startsWith('balance '));
  return balance !== 'balance source';
}

function parseBackend(
  from: string,
  lines: readonly string[],
  profiles: ReadonlyMap<string, readonly string[]>,
): ModelBackend {
  const own = lines.filter((line) => !/^(server|guid|mode) /.test(line));
  const words = lines.map((line) => line.split(' '));
  const inherited = profiles.get(from) ?? [];
  const modes = [...inherited, ...lines].filter((line) => line.startsWith('mode '));
  return {
    profile: from,
    mode: modes.at(-1)!.slice(5),
    guid: words.find(([first]) => first === 'guid')?.[1] ?? '',
    own,
    takesServers: isDynamic([...inherited, ...own]),
    published: true,
    servers: new Map(words.filter(([first]) => first === 'server').map(parseServer)),
  };
}

function parseCrtLine(line: string): CrtListLine {
  const found = /^(\S+)(?: \[([^\]]*)\])?(?: (.*))?$/.exec(line)!;
  return { certificate: found[1]!, options: found[2] ?? '', sni: found[3]?.split(' ') ?? [] };
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** What HAProxy makes of the files at its start. Written against the text alone, as HAProxy reads it. */
export function readConfig(files: FileSet): ModelConfig {
  const read = (path: string): string => decoder.decode(files.read(path));
  const profiles = new Map<string, readonly string[]>();
  const backends = new Map<string, ModelBackend>();
  let core = '';
  for (const section of read('haproxy.cfg').split(/^(?=\S)/m)) {
    const [head = '', ...body] = linesOf(section).map((line) => line.trim());
    const [kind, name = '', , from = ''] = head.split(' ');
    if (kind === 'defaults') profiles.set(name, [...(profiles.get(from) ?? []), ...body]);
    if (kind === 'backend') backends.set(name, parseBackend(from, body, profiles));
    // The stamp is a `global` of its own; profiles are named by their content.
    else if (!/^(defaults be-|global\n {4}setenv HAPTIC_TEXT )/.test(section)) core += section;
  }
  const paths = files.entries.map(({ path }) => path);
  const of = (folder: string): readonly string[] => paths.filter((path) => path.startsWith(folder));
  const crtLists = new Map(of('crt-lists/').map((path) => [path, linesOf(read(path)).map(parseCrtLine)]));
  const named = new Set([...crtLists.values()].flat().map(({ certificate }) => certificate));
  return {
    core,
    profiles,
    backends,
    maps: new Map(
      of('maps/').map((path) => [
        path,
        linesOf(read(path)).map((line): readonly [string, string] => {
          const space = line.indexOf(' ');
          return [line.slice(0, space), line.slice(space + 1)];
        }),
      ]),
    ),
    crtLists,
    certificates: new Map([...named].map((path) => [path, read(path)])),
  };
}
