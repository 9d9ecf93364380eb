import { chmod, copyFile, cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { command, type Run } from '../cache/command.ts';

interface Build {
  /** Folder with the `.deb` files. */
  readonly packages: string;
  /** Folder for what is in the making, on the same file system as `prefix`. */
  readonly work: string;
  /** Where the result will stand: the program's own paths point there. */
  readonly prefix: string;
}

/** Unpacks the packages and makes the program use the unpacked loader and libraries. Returns the folder to move to `prefix`. */
export async function unpackPackages(run: Run, { packages, work, prefix }: Build): Promise<string> {
  const root = join(work, 'root');
  const built = join(work, 'built');
  await rm(root, { recursive: true, force: true });
  await rm(built, { recursive: true, force: true });
  await mkdir(root, { recursive: true });
  for (const name of await readdir(packages)) {
    if (name.endsWith('.deb')) await command(run, 'dpkg-deb', ['-x', join(packages, name), root]);
  }
  const lib = join(built, 'lib');
  await copyLibraries(root, lib);
  await mkdir(join(built, 'sbin'), { recursive: true });
  const program = join(built, 'sbin', 'haproxy');
  await copyFile(join(root, 'usr/sbin/haproxy'), program);
  await chmod(program, 0o755);
  await pointAtOwnLibraries(run, {
    program,
    patchelf: join(root, 'usr/bin/patchelf'),
    lib,
    finalLib: join(prefix, 'lib'),
  });
  return built;
}

/** Shared libraries stand in `[usr/]lib/<triplet>/`; modules in deeper folders are not needed. */
async function copyLibraries(root: string, lib: string): Promise<void> {
  await mkdir(lib, { recursive: true });
  for (const base of ['usr/lib', 'lib']) {
    for (const triplet of await readdir(join(root, base)).catch(() => [])) {
      if (!triplet.includes('-linux-gnu')) continue;
      const folder = join(root, base, triplet);
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        if (entry.isDirectory() || !entry.name.includes('.so')) continue;
        await cp(join(folder, entry.name), join(lib, entry.name), { verbatimSymlinks: true });
      }
    }
  }
}

interface Patch {
  readonly program: string;
  readonly patchelf: string;
  readonly lib: string;
  readonly finalLib: string;
}

async function pointAtOwnLibraries(run: Run, { program, patchelf, lib, finalLib }: Patch): Promise<void> {
  const loader = (await readdir(lib)).find((name) => /^ld-linux.*\.so\./.test(name));
  if (loader === undefined) throw new Error('no program loader among the unpacked libraries');
  const withLoader = (file: string, args: readonly string[]): Promise<string> =>
    command(run, join(lib, loader), ['--library-path', lib, file, ...args]);
  // An RPATH, unlike a RUNPATH, also holds for what the libraries themselves load.
  await withLoader(patchelf, [
    '--set-interpreter',
    join(finalLib, loader),
    '--force-rpath',
    '--set-rpath',
    finalLib,
    program,
  ]);
  await withLoader(program, ['-v']);
}
