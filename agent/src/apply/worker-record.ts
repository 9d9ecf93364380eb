import { join } from 'node:path';
import type { Log } from '@haptic/core/contract';
import { z } from 'zod';
import { deferredDeleteSchema } from '../runtime/deferred-delete.ts';
import type { Durability } from '../files/durable.ts';
import { LastRecord } from '../files/last-record.ts';

/** Which worker is known to run which tree. */
const workerRecordSchema = z.object({
  pid: z.int(),
  startedAt: z.int(),
  /** The plan that it loaded. */
  planId: z.string().nullable(),
  /** The tree that it runs: loaded, or brought in step with since. Null: changed by an apply that was taken back. */
  treeId: z.string().nullable(),
  /** What still has to be deleted from it. */
  deferred: z.array(deferredDeleteSchema).default([]),
});
export type WorkerRecord = z.output<typeof workerRecordSchema>;

export class WorkerRecordFile {
  readonly #file: LastRecord;
  #record: WorkerRecord | undefined;

  readonly #log: Log;

  constructor(baseDir: string, durability: Durability, log: Log) {
    this.#log = log;
    this.#file = new LastRecord(join(baseDir, 'worker.json'), durability);
    const stored = workerRecordSchema.safeParse(this.#file.read());
    this.#record = stored.success ? stored.data : undefined;
  }

  get value(): WorkerRecord | undefined {
    return this.#record;
  }

  /** @throws when it cannot be kept; then it is not so. */
  set(record: WorkerRecord): void {
    this.#file.write(record);
    this.#record = record;
  }

  /**
   * What has come to pass is so, also where the disk is too full to keep it: the worker that is on the disk is then another one, or
   * runs another tree, and after a restart the files are loaded once more.
   */
  learn(record: WorkerRecord): void {
    this.#record = record;
    try {
      this.#file.write(record);
    } catch (error) {
      this.#log.error({ err: error }, 'cannot keep what the worker runs');
    }
  }
}
