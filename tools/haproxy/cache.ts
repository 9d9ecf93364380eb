import { join } from 'node:path';
import { cacheDirectory } from '../cache/cache-directory.ts';

export function installDirectory(minor: string, env?: NodeJS.ProcessEnv): string {
  return join(cacheDirectory(env), 'haproxy', minor);
}

export function installedBinary(prefix: string): string {
  return join(prefix, 'sbin', 'haproxy');
}
