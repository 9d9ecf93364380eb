import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

const NAME = /^haptic-up-(\d+)-/;

/** Makes a folder that only this user can enter, with a fresh token; and ends what dead runs have left beside it. */
export function makePrivateFolder(baseDir: string | undefined): PrivateFolder {
  // Short: socket paths hold 107 bytes, and macOS' TMPDIR is long already.
  const parent = process.env['XDG_RUNTIME_DIR'] ?? tmpdir();
  sweep(parent);
  const dir = mkdtempSync(join(parent, `haptic-up-${process.pid}-`));
  const paths = layout(baseDir ?? join(dir, 'base'), dir);
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

/** A run whose guard was killed with it: its HAProxy is ended and its folder, which may hold keys, removed. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(NAME.exec(name)?.[1]);
    const dir = join(parent, name);
    if (!Number.isInteger(pid) || isRunning(pid) || !isOurs(dir)) continue;
    spawnSync('sh', ['-c', GUARD_SCRIPT, ...guardArguments(layout(join(dir, 'base'), dir), dir)], {
      input: '',
      timeout: 10_000,
    });
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
