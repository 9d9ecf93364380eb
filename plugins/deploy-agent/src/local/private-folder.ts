import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash, randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refused } from '@haptic/core/contract';
import { layout, type Layout } from '@haptic/agent/protocol';
import { GUARD_SCRIPT, guardArguments } from './guard.ts';

/** The folders and files of one local run. */
export interface PrivateFolder extends Layout {
  readonly dir: string;
  readonly socketDir: string;
  readonly apiSocket: string;
  readonly tokenFile: string;
  remove(): void;
}

const PREFIX = 'haptic-up-';

/**
 * Makes a folder that only this user can enter, with a fresh token; and ends what dead runs have left beside it. Files that are
 * kept name their sockets, so a kept folder has the same private one each time.
 *
 * @throws Refused when another run has the kept folder.
 */
export function makePrivateFolder(keptDir: string | undefined): PrivateFolder {
  // Short: socket paths hold 107 bytes, and macOS' TMPDIR is long already.
  const parent = process.env['XDG_RUNTIME_DIR'] ?? tmpdir();
  sweep(parent);
  const dir =
    keptDir === undefined
      ? mkdtempSync(join(parent, `${PREFIX}${process.pid}-`))
      : makeFolderOf(keptDir, parent);
  writeFileSync(ownerFile(dir), String(process.pid));
  const paths = layout(keptDir ?? join(dir, 'base'), dir);
  mkdirSync(paths.baseDir, { recursive: true, mode: 0o700 });
  const tokenFile = join(dir, 'token');
  writeFileSync(tokenFile, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  return {
    ...paths,
    dir,
    socketDir: dir,
    apiSocket: join(dir, 'agent.sock'),
    tokenFile,
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

function makeFolderOf(keptDir: string, parent: string): string {
  const dir = join(parent, `${PREFIX}${createHash('sha256').update(keptDir).digest('hex').slice(0, 12)}`);
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Refused([
      { where: keptDir, message: `another run uses this folder (its sockets are in ${dir})` },
    ]);
  }
  return dir;
}

/** A run whose guard was killed with it: its HAProxy is ended and its folder, which may hold keys, removed. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const dir = join(parent, name);
    if (!name.startsWith(PREFIX) || !isOurs(dir) || isOwned(dir)) continue;
    spawnSync('sh', ['-c', GUARD_SCRIPT, ...guardArguments(layout(join(dir, 'base'), dir), dir)], {
      input: '',
      timeout: 10_000,
    });
  }
}

function ownerFile(dir: string): string {
  return join(dir, 'owner');
}

/** By a run that lives; or by one that has just made it. */
function isOwned(dir: string): boolean {
  try {
    return isRunning(Number(readFileSync(ownerFile(dir), 'utf8')));
  } catch {
    return Date.now() - lstatSync(dir).mtimeMs < 10_000;
  }
}

function isOurs(dir: string): boolean {
  const stat = lstatSync(dir, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.();
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
