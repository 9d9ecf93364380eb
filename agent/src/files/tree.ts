import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileTable } from './file-table.ts';

/** What the agent knows of one file set. */
export interface TreeRecord {
  /** Null: the bootstrap tree, which no controller sent. */
  readonly planId: string | null;
  readonly textId: string;
  readonly binds: readonly string[];
  readonly files: FileTable;
  /** Digests of the parts of the plan that these files belong to. */
  readonly plan: readonly string[];
  /** True until the worker is known to have loaded it: an apply that ends in a reload. */
  readonly needsLoad: boolean;
  /** Operations were to run on the worker before it loaded this: going back needs a reload, too. */
  readonly touchesWorker: boolean;
  /** The tree to go back to when loading fails. */
  readonly restoreTo: string | null;
}

/** One complete file set on the disk: never changed once `current` or `lkg` points at it. */
export interface Tree {
  readonly id: string;
  /** HAProxy's working directory. */
  readonly folder: string;
  readonly record: TreeRecord;
}

export function digestOf(content: Uint8Array): string {
  return hash('sha256', content, 'hex');
}

/** The digest that a file of a tree has now; undefined when it cannot be read. */
export function actualDigest(tree: Tree, path: string): string | undefined {
  try {
    return digestOf(readFileSync(join(tree.folder, path)));
  } catch {
    return undefined;
  }
}

/** The paths whose bytes are no longer those that were applied. */
export function driftedPaths(tree: Tree): string[] {
  return [...tree.record.files]
    .filter(({ path, digest }) => actualDigest(tree, path) !== digest)
    .map(({ path }) => path);
}
