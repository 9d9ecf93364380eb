import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'haptic-judge-';

/** A folder of another container, whose processes cannot be seen from here, counts as left behind when untouched for so long. */
const ABANDONED_MS = 3_600_000;

/** A private folder of this process (0700), made at the first use and again should something have taken it away. */
export class WorkFolder {
  readonly #parent: string;
  #made: Promise<string> | undefined;

  constructor(parent = tmpdir()) {
    this.#parent = parent;
  }

  get parent(): string {
    return this.#parent;
  }

  /** The folder's path; marks it as in use. */
  async open(): Promise<string> {
    const path = await (this.#made ??= this.#make());
    await mkdir(path, { mode: 0o700, recursive: true });
    const now = new Date();
    await utimes(path, now, now);
    return path;
  }

  async remove(): Promise<void> {
    const path = await this.#made?.catch(() => undefined);
    this.#made = undefined;
    if (path !== undefined) await rm(path, { recursive: true, force: true });
  }

  async #make(): Promise<string> {
    try {
      return await mkdtemp(join(this.#parent, `${PREFIX}${await ownKey()}-`));
    } catch (error) {
      this.#made = undefined;
      throw error;
    }
  }
}

/** Removes the folders of judges that have died without doing it. Returns their paths; what cannot be removed is left. */
export async function removeAbandoned(parent = tmpdir()): Promise<readonly string[]> {
  const removed: string[] = [];
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((candidate) => candidate.startsWith(PREFIX))) {
    const path = join(parent, name);
    if (!(await isAbandoned(name, path))) continue;
    const gone = await rm(path, { recursive: true, force: true }).then(
      () => true,
      () => false,
    );
    if (gone) removed.push(path);
  }
  return removed;
}

async function isAbandoned(name: string, path: string): Promise<boolean> {
  const [namespace, pid = '', started] = name.slice(PREFIX.length).split('-');
  if (namespace === (await pidNamespace())) return (await startOf(pid)) !== started;
  const touched = await stat(path).catch(() => undefined);
  return touched !== undefined && Date.now() - touched.mtimeMs > ABANDONED_MS;
}

/** Tells this process from every other, also from one that gets its id later. */
async function ownKey(): Promise<string> {
  return [await pidNamespace(), process.pid, await startOf('self')].join('-');
}

async function pidNamespace(): Promise<string> {
  const link = await readlink('/proc/self/ns/pid').catch(() => '');
  return /\d+/.exec(link)?.[0] ?? '0';
}

/** When a process started, in the kernel's ticks; undefined when there is none. */
async function startOf(pid: string): Promise<string | undefined> {
  const fields = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name in parentheses may hold blanks and parentheses; the start is the 20th field after it.
  return fields.slice(fields.lastIndexOf(')') + 2).split(' ')[19];
}
