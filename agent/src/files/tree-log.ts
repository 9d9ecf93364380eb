import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { chunkParts, digestSchema, expandChunks, LIMITS } from '../protocol/index.ts';
import { AppendedFile } from './appended-file.ts';
import type { Durability } from './durable.ts';
import { FileTable } from './file-table.ts';
import type { Tree, TreeRecord } from './tree.ts';

/** Each has a log of its own, and writes no other. */
export type Maker = 'agent' | 'supervisor';

const fileSchema = z.object({
  path: z.string(),
  digest: digestSchema,
  size: z.int(),
  kind: z.string(),
  reloadOnChange: z.boolean(),
});

/** A tree by what it has other than one that stands before it in the log. */
const lineSchema = z.object({
  id: z.string(),
  from: z.string().nullable(),
  planId: z.string().nullable(),
  textId: z.string(),
  binds: z.array(z.string()),
  files: z.array(fileSchema),
  removed: z.array(z.string()),
  plan: z.array(z.union([z.string(), z.tuple([z.int(), z.int()])])),
  needsLoad: z.boolean(),
  touchesWorker: z.boolean(),
  restoreTo: z.string().nullable(),
});
type TreeLine = z.output<typeof lineSchema>;

/** Rewritten when it is longer than so many bytes, and than twice what it takes to name the trees that are there. */
const LONGEST = 256 * 1024;

/**
 * What is known of the trees of one maker: each is a line that tells how it differs from the one before. So a tree of thousands
 * of files costs what changed, and a tree is complete when its line is and its folder has its name.
 */
export class TreeLog {
  readonly #file: AppendedFile;
  readonly #path: string;
  #records = new Map<string, TreeRecord>();
  /** The last one in the log. */
  #last: Pick<Tree, 'id' | 'record'> | undefined;
  /** Bytes right after the log was written anew. */
  #baseline = 0;
  #seen = '';
  /** A line is none, and nothing behind it would ever be read. */
  #isSpoilt = false;

  constructor(baseDir: string, maker: Maker, durability: Durability) {
    this.#path = join(baseDir, `trees-${maker}.log`);
    this.#file = new AppendedFile(this.#path, durability);
    this.#read();
  }

  /** What the log says of it now: the other process may have written more. */
  get(id: string): TreeRecord | undefined {
    if (!this.#records.has(id)) this.#read();
    return this.#records.get(id);
  }

  /** @param alive The trees that are to be known still when the log is written anew. */
  add(id: string, record: TreeRecord, alive: () => readonly Tree[]): void {
    const text = `${JSON.stringify(lineOf(id, record, this.#last))}\n`;
    const isShort = this.#file.size + text.length <= Math.max(LONGEST, 2 * this.#baseline);
    if (isShort && !this.#isSpoilt) this.#file.append(text);
    else this.#rewrite([...alive(), { id, record }]);
    this.#records.set(id, record);
    this.#last = { id, record };
    this.#seen = this.#stamp();
  }

  forget(id: string): void {
    this.#records.delete(id);
  }

  #rewrite(trees: readonly Pick<Tree, 'id' | 'record'>[]): void {
    const lines = trees.map(({ id, record }, at) => JSON.stringify(lineOf(id, record, trees[at - 1])));
    this.#file.replace(`${lines.join('\n')}\n`);
    this.#baseline = this.#file.size;
    this.#isSpoilt = false;
  }

  #read(): void {
    const seen = this.#stamp();
    if (seen === this.#seen) return;
    this.#seen = seen;
    const records = new Map<string, TreeRecord>();
    this.#last = undefined;
    this.#isSpoilt = false;
    for (const line of linesOf(this.#path)) {
      if (line === undefined) {
        this.#isSpoilt = true;
        break;
      }
      const record = recordOf(line, line.from === null ? undefined : records.get(line.from));
      if (record === undefined) continue;
      records.set(line.id, record);
      this.#last = { id: line.id, record };
    }
    this.#records = records;
  }

  /** Another one: the log was written since. */
  #stamp(): string {
    const stats = statSync(this.#path, { throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
  }
}

function lineOf(
  id: string,
  { files, plan, ...record }: TreeRecord,
  from: Pick<Tree, 'id' | 'record'> | undefined,
): TreeLine {
  const known = from?.record.files ?? FileTable.of([]);
  const paths = files.differences(known);
  return {
    id,
    from: from?.id ?? null,
    ...record,
    binds: [...record.binds],
    files: paths.flatMap((path) => files.get(path) ?? []),
    removed: paths.filter((path) => files.get(path) === undefined),
    plan: chunkParts(plan, from?.record.plan ?? []),
  };
}

function recordOf(line: TreeLine, from: TreeRecord | undefined): TreeRecord | undefined {
  if (from === undefined && line.from !== null) return undefined;
  const { id: _id, from: _from, files, removed, plan, ...rest } = line;
  const chunks = expandChunks(plan, from?.plan ?? [], LIMITS.files);
  if (chunks === undefined) return undefined;
  return { ...rest, files: from?.files.with(files, removed) ?? FileTable.of(files), plan: chunks };
}

/** Those that are whole, undefined for one that is none. */
function* linesOf(path: string): Iterable<TreeLine | undefined> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return;
  }
  for (const row of text.split('\n').slice(0, -1)) yield readLine(row);
}

function readLine(row: string): TreeLine | undefined {
  try {
    return lineSchema.safeParse(JSON.parse(row)).data;
  } catch {
    return undefined;
  }
}
