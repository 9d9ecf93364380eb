import type { TreeStore } from '../files/tree-store.ts';
import { digestOf } from '../files/tree.ts';
import type { ApplyRequest, FilePatch } from '../protocol/index.ts';

/** Makes what patches tell of from bytes that are held; one that does not do is left out, so that its file is missing. */
export function patchedFiles({ files }: ApplyRequest, trees: TreeStore): Map<string, Uint8Array> {
  const made = new Map<string, Uint8Array>();
  for (const { patch, digest } of files) {
    const base = patch === undefined ? undefined : trees.read(patch.from);
    if (patch === undefined || base === undefined) continue;
    const bytes = applyPatch(base, patch.parts);
    if (digestOf(bytes) === digest) made.set(digest, bytes);
  }
  return made;
}

export function applyPatch(base: Uint8Array, parts: FilePatch['parts']): Buffer {
  return Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? Buffer.from(part, 'base64') : base.subarray(part[0], part[0] + part[1]),
    ),
  );
}
