import { didYouMean, type Server } from '../../contract/index.ts';
import { isIp } from '../names/ip.ts';
import { shown } from './escape.ts';
import { foreignFile } from './own-file.ts';
import { SiteError } from './site-error.ts';
import { kindOf } from './values.ts';

/** What `{% backend {…} %}` declares. */
export interface BackendDeclaration {
  readonly name: string;
  readonly from: string;
  readonly mode: 'http' | 'tcp';
  readonly servers: readonly Server[];
  readonly objects: unknown;
  readonly secret: boolean;
}

export const backendKeys: readonly string[] = ['name', 'from', 'mode', 'servers', 'objects', 'secret'];

const serverKeys: readonly string[] = ['name', 'address', 'port', 'weight', 'state', 'keywords', 'guid'];
const proxyName = /^[\w.:-]+$/;
const checked = new WeakSet();

function name(value: unknown, what: string, site: number): string {
  if (typeof value === 'string' && proxyName.test(value)) return value;
  const found = typeof value === 'string' ? shown(value) : kindOf(value);
  throw new SiteError(site, `${what} is ${found}, expected letters, digits and . : _ -`);
}

function checkKeys(object: object, known: readonly string[], what: string, site: number): void {
  for (const key in object) {
    if (!known.includes(key)) {
      throw new SiteError(
        site,
        `${what} has no key "${key}"${didYouMean(key, known)}; known: ${known.join(', ')}`,
      );
    }
  }
}

/** @throws SiteError for anything that is no backend */
export function backendDeclaration(value: unknown, site: number): BackendDeclaration {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SiteError(site, `a backend is declared by an object {name, from, …}, not by ${kindOf(value)}`);
  }
  checkKeys(value, backendKeys, 'a backend', site);
  const given = value as Record<string, unknown>;
  const mode = given['mode'] ?? 'http';
  if (mode !== 'http' && mode !== 'tcp')
    throw new SiteError(site, 'the mode of a backend is "http" or "tcp"');
  const secret = given['secret'] ?? false;
  if (typeof secret !== 'boolean') throw new SiteError(site, '"secret" of a backend is true or false');
  return {
    name: name(given['name'], 'the name of the backend', site),
    from: name(given['from'], '"from" of the backend', site),
    mode,
    servers: servers(given['servers'] ?? [], site),
    objects: given['objects'],
    secret,
  };
}

function servers(value: unknown, site: number): readonly Server[] {
  if (!Array.isArray(value))
    throw new SiteError(site, `"servers" of a backend is ${kindOf(value)}, expected a list`);
  if (checked.has(value)) return value as readonly Server[];
  const result = value.map((item) => server(item, site));
  if (result.some((item, i) => item !== value[i])) return result;
  // Only what cannot change is good for ever.
  if (Object.isFrozen(value) && result.every(Object.isFrozen)) checked.add(value);
  return value as readonly Server[];
}

/** The server itself when nothing is missing, so that unchanged ones stay the identical objects. */
function server(value: unknown, site: number): Server {
  if (typeof value !== 'object' || value === null) {
    throw new SiteError(site, `a server is ${kindOf(value)}, expected an object {name, address, port, …}`);
  }
  if (checked.has(value)) return value as Server;
  checkKeys(value, serverKeys, 'a server', site);
  const given = value as Record<string, unknown>;
  const { address, port, weight, state = 'ready', keywords = [] } = given;
  const known = name(given['name'], 'the name of a server', site);
  const wrong = (key: string, expected: string): never => {
    throw new SiteError(site, `"${key}" of server "${known}" is ${kindOf(given[key])}, expected ${expected}`);
  };
  if (typeof address !== 'string' || !isIp(address)) wrong('address', 'a literal IP address');
  if (!isIntegerIn(port, 0, 65_535)) wrong('port', 'a number from 0 to 65535');
  if (weight !== undefined && !isIntegerIn(weight, 0, 256)) wrong('weight', 'a number from 0 to 256');
  if (state !== 'ready' && state !== 'drain' && state !== 'maint')
    wrong('state', '"ready", "drain" or "maint"');
  if (!Array.isArray(keywords) || !keywords.every((word) => typeof word === 'string' && word !== '')) {
    wrong('keywords', 'a list of words');
  }
  const file = foreignFile(keywords as readonly string[]);
  if (file !== undefined)
    throw new SiteError(
      site,
      `server "${known}" names the file ${shown(file)}; only path(kind, name) names one`,
    );
  if (typeof given['guid'] === 'string' && given['state'] !== undefined && given['keywords'] !== undefined) {
    if (Object.isFrozen(value)) checked.add(value);
    return value as Server;
  }
  const guid = typeof given['guid'] === 'string' ? given['guid'] : '';
  return {
    ...(given as unknown as Server),
    state: state as Server['state'],
    keywords: keywords as string[],
    guid,
  };
}

function isIntegerIn(value: unknown, low: number, high: number): boolean {
  return Number.isInteger(value) && (value as number) >= low && (value as number) <= high;
}
