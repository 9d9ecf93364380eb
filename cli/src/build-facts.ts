import { createHash } from 'node:crypto';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageVersion } from './version.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The code that runs, whether from its sources or built, and the libraries that are shipped with it. */
const code = import.meta.url.endsWith('.ts') ? 'src/**/*.ts' : 'dist/**/*.js';
const FILES = [`{core,agent,kube,prometheus,cli,plugins/*}/${code}`, 'chart/libraries/*.yaml'];

/**
 * Who this program is: its version, and a hash of what it is made of. The hash is the same on every architecture, and another one
 * as soon as a file differs.
 */
export async function buildFacts(): Promise<{ readonly version: string; readonly sourceHash: string }> {
  const paths: string[] = [];
  for await (const path of glob(FILES, { cwd: root })) {
    if (!path.includes('node_modules') && !/\.test\.[jt]s$/.test(path)) paths.push(path);
  }
  const hash = createHash('sha256');
  for (const path of paths.toSorted()) {
    const content = await readFile(join(root, path));
    hash.update(`${path}\0${content.byteLength}\0`).update(content);
  }
  return { version: packageVersion, sourceHash: hash.digest('hex') };
}
