import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Refused, type Rendered } from '@haptic/core/contract';

/** Marks a folder as ours, so that a second render may replace it and nothing else is ever removed. */
const MARK = '.haptic-render.json';

/**
 * Writes a rendered file set as one folder: all of it or nothing.
 *
 * @throws Refused for a folder that holds something else.
 */
export async function writeTree(out: string, rendered: Rendered): Promise<void> {
  await replaceFolder(out, (staged) => writeRendered(staged, rendered));
}

/**
 * Writes several of them below one folder, by name: all or nothing.
 *
 * @throws Refused for a folder that holds something else.
 */
export async function writeTrees(out: string, trees: ReadonlyMap<string, Rendered>): Promise<void> {
  await replaceFolder(out, async (staged) => {
    for (const [name, rendered] of trees) await writeRendered(join(staged, name), rendered);
    await writeFile(join(staged, MARK), `${JSON.stringify([...trees.keys()], undefined, 2)}\n`, {
      mode: 0o600,
    });
  });
}

/** Files may be secret: nobody else gets at them. */
async function writeRendered(folder: string, rendered: Rendered): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const { path } of rendered.files.entries) {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, path), rendered.files.read(path), { mode: 0o600 });
  }
  await writeFile(join(folder, MARK), `${JSON.stringify(rendered.plan, undefined, 2)}\n`, { mode: 0o600 });
}

async function replaceFolder(out: string, write: (staged: string) => Promise<void>): Promise<void> {
  const target = resolve(out);
  await assertReplaceable(target);
  await mkdir(dirname(target), { recursive: true });
  const staged = await mkdtemp(`${target}.`);
  try {
    await write(staged);
    await rm(target, { recursive: true, force: true });
    await rename(staged, target);
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

async function assertReplaceable(target: string): Promise<void> {
  let names: string[];
  try {
    names = await readdir(target);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    throw new Refused([
      { where: target, message: code === 'ENOTDIR' ? 'is a file, expected a folder' : message },
    ]);
  }
  if (names.length === 0 || names.includes(MARK)) return;
  throw new Refused([
    { where: target, message: 'is not empty and was not written by a render; choose another folder' },
  ]);
}
