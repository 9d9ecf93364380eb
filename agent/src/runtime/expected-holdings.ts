import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree } from '../files/tree.ts';
import type { WorkerHoldings } from './worker-holdings.ts';

/** What a worker has that is in step with these files; a kind of thing that they do not tell of is left out. */
export type ExpectedHoldings = Pick<WorkerHoldings, 'maps' | 'certificates'> & {
  /** By backend; backends are left out whose servers HAProxy names itself. Undefined: cannot be told. */
  readonly servers: ReadonlyMap<string, ReadonlySet<string>> | undefined;
};

/** @throws when a file cannot be read. */
export function expectedHoldings(tree: Tree): ExpectedHoldings {
  const text = (path: string): string => readFileSync(join(tree.folder, path), 'utf8');
  const files = [...tree.record.files];
  const ofKind = (kind: string): string[] =>
    files.filter((file) => file.kind === kind).map(({ path }) => path);
  const lists = ofKind('crt-list').flatMap((path) => meaningful(text(path)));
  return {
    maps: new Map(ofKind('map').map((path) => [path, meaningful(text(path)).length])),
    certificates: new Set(lists.map((line) => line.trim().split(/\s/, 1)[0] ?? '')),
    servers: serversIn(text('haproxy.cfg')),
  };
}

function meaningful(text: string): string[] {
  return text.split('\n').filter((line) => /^\s*[^\s#]/.test(line));
}

const PROXIES = ['backend', 'listen', 'frontend', 'defaults', 'global'];

function serversIn(config: string): ExpectedHoldings['servers'] {
  const servers = new Map<string, Set<string>>();
  let backend: string | undefined;
  for (const line of meaningful(config)) {
    const [word = '', name = ''] = line.trim().split(/\s+/, 2);
    // What is read depends on more than the file.
    if (word.startsWith('.')) return undefined;
    if (/^\S/.test(line) || PROXIES.includes(word)) {
      backend = word === 'backend' || word === 'listen' ? name : undefined;
      if (backend !== undefined) servers.set(backend, new Set());
    } else if (backend !== undefined && word === 'server') {
      if (/["'\\$]/.test(name)) return undefined;
      servers.get(backend)?.add(`${backend}/${name}`);
    } else if (backend !== undefined && word === 'server-template') {
      servers.delete(backend);
      backend = undefined;
    }
  }
  return servers;
}
