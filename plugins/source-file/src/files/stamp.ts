import type { BigIntStats } from 'node:fs';

/** Changes whenever a file's content may have: the time of the last change of its inode cannot be set by hand. */
export function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}
