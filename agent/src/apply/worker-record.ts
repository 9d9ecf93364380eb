import { join } from 'node:path';
import { z } from 'zod';
import { readJson, replaceFile, type Durability } from '../files/durable.ts';

/** Which worker is known to run which tree. */
const workerRecordSchema = z.object({
  pid: z.int(),
  startedAt: z.int(),
  /** The plan that it loaded. */
  planId: z.string().nullable(),
  /** The tree that it runs: loaded, or written since without a need to load. */
  treeId: z.string(),
});
export type WorkerRecord = z.output<typeof workerRecordSchema>;

export class WorkerRecordFile {
  readonly #path: string;
  readonly #durability: Durability;
  #record: WorkerRecord | undefined;

  constructor(baseDir: string, durability: Durability) {
    this.#path = join(baseDir, 'worker.json');
    this.#durability = durability;
    const stored = workerRecordSchema.safeParse(readJson(this.#path));
    this.#record = stored.success ? stored.data : undefined;
  }

  get value(): WorkerRecord | undefined {
    return this.#record;
  }

  set(record: WorkerRecord): void {
    replaceFile(this.#path, JSON.stringify(record), this.#durability);
    this.#record = record;
  }
}
