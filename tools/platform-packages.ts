import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command, type Run } from './cache/command.ts';

/** The part of a lockfile that says for which machines a package is. */
export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

export interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly libc: string;
}

const root = join(import.meta.dirname, '..');

/**
 * Installs the native parts of the tools that npm has left out. An npm that runs on an old Node.js, Debian 12's own for one,
 * silently skips those whose `engines` ask for a newer one, although they never run on any but the project's own Node.js.
 */
export async function installLeftOut(run: Run): Promise<void> {
  const lockfile = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lockfile;
  const wanted = packagesFor(lockfile, thisPlatform());
  const present = await Promise.all(wanted.map(({ path }) => exists(join(root, path))));
  const missing = wanted.filter((_, index) => !present[index]).map(({ spec }) => spec);
  if (missing.length === 0) return;
  run.log(`installing what npm left out: ${missing.join(' ')}`);
  // npm names itself and its Node.js to the scripts that it runs.
  const { npm_node_execpath: node, npm_execpath: npm } = process.env;
  const [program, ...args] = node === undefined || npm === undefined ? ['npm'] : [node, npm];
  await command(run, program, [...args, 'install', '--no-save', '--no-audit', '--no-fund', ...missing], {
    cwd: root,
  });
}

/** The native packages of a platform, in the lockfile's order. */
export function packagesFor(
  { packages }: Lockfile,
  { os, cpu, libc }: Platform,
): readonly { readonly path: string; readonly spec: string }[] {
  return Object.entries(packages)
    .filter(([, entry]) => entry.optional === true && entry.cpu?.includes(cpu) === true)
    .filter(([, entry]) => (entry.os?.includes(os) ?? true) && (entry.libc?.includes(libc) ?? true))
    .map(([path, { version }]) => ({ path, spec: `${path.replace(/^.*node_modules\//, '')}@${version}` }));
}

function thisPlatform(): Platform {
  const { header } = process.report.getReport() as unknown as {
    readonly header: { readonly glibcVersionRuntime?: string };
  };
  return {
    os: process.platform,
    cpu: process.arch,
    libc: header.glibcVersionRuntime === undefined ? 'musl' : 'glibc',
  };
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
