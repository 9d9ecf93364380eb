import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where tools keep what they download and build: outside of the work tree, so that every clone shares it. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const base = env['HAPTIC_CACHE'] ?? env['XDG_CACHE_HOME'] ?? '';
  return join(base === '' ? join(homedir(), '.cache') : base, 'haptic');
}
