import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where tools keep what they download: outside of the work tree, so that every clone shares it. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const base = env['HAPTIC_CACHE'] ?? env['XDG_CACHE_HOME'] ?? '';
  return join(base === '' ? join(homedir(), '.cache') : base, 'haptic');
}

export function installDirectory(minor: string, env?: NodeJS.ProcessEnv): string {
  return join(cacheDirectory(env), 'haproxy', minor);
}

export function installedBinary(prefix: string): string {
  return join(prefix, 'sbin', 'haproxy');
}
