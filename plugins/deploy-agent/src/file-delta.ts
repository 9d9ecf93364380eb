import type { FileEntry, RenderPlan } from '@haptic/core/contract';
import { fileSetDigest, sumOf, withFile, withoutFile, type FileSetSum } from '@haptic/agent/protocol';

/** How one set of files differs from another. */
export interface FileDelta {
  /** New, or other than before. */
  readonly files: readonly FileEntry[];
  readonly removed: readonly string[];
  /** Of the whole set. */
  readonly digest: string;
}

/** Plans that follow each other mostly differ by a few files, and so do their sums. */
const sums = new WeakMap<RenderPlan, FileSetSum>();

export function fileDelta(next: RenderPlan, before: RenderPlan): FileDelta {
  const { fresh, gone } = differing(next.files, before.files);
  const paths = new Set(fresh.map(({ path }) => path));
  let sum = sums.get(before) ?? sumOf(before.files);
  sums.set(before, sum);
  for (const file of gone) sum = withoutFile(sum, file);
  for (const file of fresh) sum = withFile(sum, file);
  sums.set(next, sum);
  return {
    files: fresh,
    removed: gone.map(({ path }) => path).filter((path) => !paths.has(path)),
    digest: fileSetDigest(sum),
  };
}

/** Both are sorted by path. */
function differing(
  next: readonly FileEntry[],
  before: readonly FileEntry[],
): { readonly fresh: readonly FileEntry[]; readonly gone: readonly FileEntry[] } {
  const fresh: FileEntry[] = [];
  const gone: FileEntry[] = [];
  let at = 0;
  for (const file of next) {
    while (at < before.length && before[at]!.path < file.path) gone.push(before[at++]!);
    const old = before[at]?.path === file.path ? before[at++] : undefined;
    if (old !== undefined && sameFile(file, old)) continue;
    fresh.push(file);
    if (old !== undefined) gone.push(old);
  }
  return { fresh, gone: [...gone, ...before.slice(at)] };
}

function sameFile(a: FileEntry, b: FileEntry): boolean {
  return (
    a === b ||
    (a.digest === b.digest && a.size === b.size && a.kind === b.kind && a.reloadOnChange === b.reloadOnChange)
  );
}
