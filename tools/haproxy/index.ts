import { delimiter, isAbsolute, join } from 'node:path';
import { installDirectory, installedBinary } from './cache.ts';
import type { Run } from '../cache/command.ts';
import { installFromDebian, isInstalled } from './debian.ts';
import { versionOf } from './probe.ts';
import { HaproxyUnavailable, overrideVariable } from './unavailable.ts';
import { isReleaseOf, supportedVersions } from './versions.ts';

export { HaproxyUnavailable } from './unavailable.ts';
export { isSupported, supportedVersions, type HaproxyMinor } from './versions.ts';

export interface HaproxyOptions {
  /** Receives progress lines. */
  readonly log?: (line: string) => void;
  readonly signal?: AbortSignal;
}

const newestFirst = supportedVersions.toReversed();

/** Where programs of the system stand that are not in the PATH of users other than root. */
const administratorFolders = ['/usr/local/sbin', '/usr/sbin'];

/**
 * The path of a working HAProxy of that branch: the one that the environment names, the system's own, the cached one, or
 * one from Debian's archive, which goes into the cache. Changes nothing else on the system.
 * @throws HaproxyUnavailable saying what was tried.
 */
export async function haproxyBinary(minor: string, options: HaproxyOptions = {}): Promise<string> {
  const attempts: string[] = [];
  const present = await presentBinary(minor, attempts);
  if (present !== undefined) return present;
  const prefix = installDirectory(minor);
  const run: Run = { log: options.log ?? (() => undefined), signal: options.signal };
  try {
    await installFromDebian(run, minor, prefix);
  } catch (error) {
    options.signal?.throwIfAborted();
    attempts.push(`Debian's archive: ${(error as Error).message}`);
    throw new HaproxyUnavailable(minor, attempts);
  }
  return installedBinary(prefix);
}

/**
 * A working HAProxy of any supported branch, for who only wants to run one: one that is here already, else the newest that
 * can be had.
 * @throws HaproxyUnavailable for the newest branch.
 */
export async function anyHaproxy(options: HaproxyOptions = {}): Promise<string> {
  const present = await anyPresentHaproxy();
  if (present !== undefined) return present;
  const failures: HaproxyUnavailable[] = [];
  for (const minor of newestFirst) {
    try {
      return await haproxyBinary(minor, options);
    } catch (error) {
      if (!(error instanceof HaproxyUnavailable)) throw error;
      failures.push(error);
    }
  }
  throw failures[0]!;
}

/** A supported HAProxy that is here already, the system's own before one that was got, newer before older; gets nothing. */
export async function anyPresentHaproxy(): Promise<string | undefined> {
  for (const find of [namedBinary, systemBinary, cachedBinary]) {
    for (const minor of newestFirst) {
      const binary = await find(minor, []);
      if (binary !== undefined) return binary;
    }
  }
  return undefined;
}

async function presentBinary(minor: string, attempts: string[]): Promise<string | undefined> {
  return (
    (await namedBinary(minor)) ??
    (await systemBinary(minor, attempts)) ??
    (await cachedBinary(minor, attempts))
  );
}

/** A binary that was asked for by name is the one or none: anything else would test something else in silence. */
async function namedBinary(minor: string): Promise<string | undefined> {
  const binary = process.env[overrideVariable(minor)];
  if (binary === undefined || binary === '') return undefined;
  const version = await versionOf(binary);
  if (version !== undefined && isReleaseOf(version, minor)) return binary;
  const outcome = version === undefined ? 'does not run, or is not HAProxy' : `is HAProxy ${version}`;
  throw new HaproxyUnavailable(minor, [`${overrideVariable(minor)}=${binary}: ${outcome}`]);
}

async function systemBinary(minor: string, attempts: string[]): Promise<string | undefined> {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const folders = new Set([...path, ...administratorFolders]);
  const found: string[] = [];
  for (const folder of folders) {
    const binary = join(folder, 'haproxy');
    const version = await versionOf(binary);
    if (version === undefined) continue;
    if (isReleaseOf(version, minor)) return binary;
    found.push(`${binary} is ${version}`);
  }
  attempts.push(`haproxy in ${[...folders].join(':')}: ${found.join(', ') || 'none'}`);
  return undefined;
}

async function cachedBinary(minor: string, attempts: string[]): Promise<string | undefined> {
  const prefix = installDirectory(minor);
  if (await isInstalled(minor, prefix)) return installedBinary(prefix);
  attempts.push(`${installedBinary(prefix)}: not there or does not run`);
  return undefined;
}
