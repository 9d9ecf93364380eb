import { z } from 'zod';
import { readJson, replaceFile, unlinkIfThere } from '../files/durable.ts';

/**
 * What the supervisor started, in a file of the socket folder: how the next supervisor, a guard and the agent find the HAProxy
 * of one that was killed.
 */
const startRecordSchema = z.object({
  /** Process group of all of HAProxy's processes, and the master's pid. */
  master: z.int().min(2),
  /** Who started the supervisor: only its successor under the same parent may go on with this HAProxy. */
  parent: z.int(),
  /** The tree that was loaded; null when it changed while HAProxy was starting. */
  treeId: z.string().nullable(),
});
export type StartRecord = z.output<typeof startRecordSchema>;

export function readStartRecord(path: string): StartRecord | undefined {
  const stored = startRecordSchema.safeParse(readJson(path));
  return stored.success ? stored.data : undefined;
}

export function writeStartRecord(path: string, record: StartRecord): void {
  replaceFile(path, JSON.stringify(record), 'process');
}

export function removeStartRecord(path: string): void {
  unlinkIfThere(path);
}
