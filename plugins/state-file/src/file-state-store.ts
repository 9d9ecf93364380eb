import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Bug, Cancelled, Retry, type StateStore } from '@haptic/core/contract';

/** Names of documents are ours, never a user's. */
const NAME = /^[a-z][a-z0-9-]{0,63}$/;

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes beside the file, then puts it in its place in one step: whoever reads sees the old document or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // What a killed process left of it, or a link that somebody put there.
  await rm(temporary, { force: true });
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Documents as files of one folder that only its user can read. Writes happen one after the other. */
export class FileStateStore implements StateStore {
  readonly #folder: string;
  /** By document, what could not be written. */
  readonly #unwritten = new Map<string, string>();
  #last: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async read(name: string): Promise<string | undefined> {
    const path = this.#pathOf(name);
    await this.#last;
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw new Retry(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
    }
  }

  write(name: string, document: string, signal?: AbortSignal): Promise<void> {
    const written = this.#writeAfter(this.#last, this.#pathOf(name), document, signal);
    this.#last = written.catch(() => {});
    return written;
  }

  /** One line about documents that are not as they were to be. */
  get problem(): string | undefined {
    return [...this.#unwritten.values()].join('; ') || undefined;
  }

  /** Resolves when nothing is being written any more. */
  idle(): Promise<void> {
    return this.#last;
  }

  async #writeAfter(
    last: Promise<void>,
    path: string,
    document: string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    await last;
    if (signal?.aborted === true) throw new Cancelled('the document is no longer to be written');
    try {
      await replaceFile(path, document);
    } catch (error) {
      const problem = `${path} cannot be written: ${messageOf(error)}`;
      this.#unwritten.set(path, problem);
      throw new Retry(problem, { cause: error });
    }
    this.#unwritten.delete(path);
  }

  #pathOf(name: string): string {
    if (!NAME.test(name)) throw new Bug(`"${name}" is no name of a document`);
    return join(this.#folder, name);
  }
}
