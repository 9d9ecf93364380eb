import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { digestSchema } from '../protocol/index.ts';
import { readJson } from './durable.ts';

const treeFileSchema = z.object({
  path: z.string(),
  digest: digestSchema,
  size: z.int(),
  kind: z.string(),
  reloadOnChange: z.boolean(),
});
export type TreeFile = z.output<typeof treeFileSchema>;

/** What the agent knows of one file set; kept beside it, so that one rename switches both. */
const treeRecordSchema = z.object({
  /** Null: the bootstrap tree, which no controller sent. */
  planId: z.string().nullable(),
  textId: z.string(),
  binds: z.array(z.string()),
  files: z.array(treeFileSchema),
  /** Digests of the parts of the plan that these files belong to. */
  plan: z.array(z.string()).default([]),
  /** True until the worker is known to have loaded it: an apply that ends in a reload. */
  needsLoad: z.boolean(),
  /** Operations were to run on the worker before it loaded this: going back needs a reload, too. */
  touchesWorker: z.boolean().default(false),
  /** The tree to go back to when loading fails. */
  restoreTo: z.string().nullable(),
});
export type TreeRecord = z.output<typeof treeRecordSchema>;

/** One complete file set on the disk: never changed once `current` or `lkg` points at it. */
export interface Tree {
  readonly id: string;
  /** HAProxy's working directory. */
  readonly folder: string;
  readonly record: TreeRecord;
}

export function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The tree of this id, or undefined when it is not a complete one. */
export function readTree(trees: string, id: string): Tree | undefined {
  const record = treeRecordSchema.safeParse(readJson(join(trees, id, 'record.json')));
  return record.success ? { id, folder: join(trees, id, 'files'), record: record.data } : undefined;
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
  return tree.record.files
    .filter(({ path, digest }) => actualDigest(tree, path) !== digest)
    .map(({ path }) => path);
}
