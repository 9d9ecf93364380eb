import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PrivateApt } from './apt.ts';
import { installedBinary } from './cache.ts';
import type { Run } from '../cache/command.ts';
import { releasesOf, suitesFor } from './debian-index.ts';
import { withFileLock } from '../cache/file-lock.ts';
import { versionOf } from './probe.ts';
import { unpackPackages } from './unpack.ts';
import { isReleaseOf } from './versions.ts';

/**
 * Puts HAProxy of a branch from Debian's archive, with its own loader and libraries, into a folder. Processes that want the
 * same wait for each other; an interrupted run leaves no half-made folder, and the next one goes on with its downloads.
 */
export async function installFromDebian(run: Run, minor: string, prefix: string): Promise<void> {
  await mkdir(dirname(prefix), { recursive: true });
  await withFileLock(`${prefix}.lock`, run.signal, async (lock) => {
    const locked = { ...run, lock };
    if (await isInstalled(minor, prefix)) return;
    const work = `${prefix}.work`;
    await mkdir(work, { recursive: true });
    const release = await downloadRelease(locked, minor, work);
    const built = await unpackPackages(locked, { packages: join(work, 'packages', release), work, prefix });
    await writeFile(join(built, 'debian-version'), `${release}\n`);
    await rm(prefix, { recursive: true, force: true });
    await rename(built, prefix);
    await rm(work, { recursive: true, force: true });
    if (!(await isInstalled(minor, prefix))) throw new Error(`${installedBinary(prefix)} does not run`);
    run.log(`HAProxy ${release} is in ${prefix}`);
  });
}

export async function isInstalled(minor: string, prefix: string): Promise<boolean> {
  const version = await versionOf(installedBinary(prefix));
  return version !== undefined && isReleaseOf(version, minor);
}

/** Finds the newest release of the branch and downloads it; returns its version. */
async function downloadRelease(run: Run, minor: string, work: string): Promise<string> {
  const apt = await PrivateApt.open(run, join(work, 'apt'));
  const seen: string[] = [];
  for (const suites of suitesFor(minor)) {
    run.log(`looking for HAProxy ${minor} in Debian ${suites[0]}`);
    const failure = await apt.select(suites).then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    run.signal?.throwIfAborted();
    if (failure !== undefined) {
      // apt goes on about what follows from the first error.
      seen.push(`${suites[0]}: ${failure.message.split(' | ')[0]}`);
      continue;
    }
    const versions = await apt.versions('haproxy');
    const newest = releasesOf(minor, versions)[0];
    if (newest === undefined) {
      seen.push(`${suites[0]}: has ${versions.join(', ') || 'none'}`);
      continue;
    }
    const packages = await apt.withLibraries([`haproxy=${newest}`, 'patchelf']);
    run.log(`downloading haproxy ${newest} and its libraries (${packages.length} packages)`);
    await apt.download(packages, join(work, 'packages', newest));
    return newest;
  }
  throw new Error(`no haproxy ${minor} in Debian's archive (${seen.join('; ')})`);
}
