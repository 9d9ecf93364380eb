import type { FileEntry } from '@haptic/core/contract';
import { matches, parseGlob } from './glob.ts';
import type { Validator } from './validators.ts';

export interface Selection {
  /** A request each. */
  readonly judged: readonly FileEntry[];
  /** With every request. */
  readonly data: readonly FileEntry[];
}

/** Which files a validator gets. A file that matches both lists is data. */
export function select(
  { files, dataFiles }: Pick<Validator, 'files' | 'dataFiles'>,
  entries: readonly FileEntry[],
): Selection {
  const isData = anyOf(dataFiles);
  const isJudged = anyOf(files);
  return {
    judged: entries.filter(({ path }) => isJudged(path) && !isData(path)),
    data: entries.filter(({ path }) => isData(path)),
  };
}

function anyOf(globs: readonly string[]): (path: string) => boolean {
  const parsed = globs.map(parseGlob);
  return (path) => parsed.some((glob) => matches(glob, path));
}
