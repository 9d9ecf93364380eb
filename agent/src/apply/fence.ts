import { join } from 'node:path';
import { z } from 'zod';
import type { Durability } from '../files/durable.ts';
import { LastRecord } from '../files/last-record.ts';
import {
  applyAnswerSchema,
  tokenSchema,
  type ApplyAnswer,
  type ApplyRequest,
  type Conflict,
  type Token,
} from '../protocol/index.ts';

const fenceRecordSchema = z.object({
  token: tokenSchema,
  planId: z.string(),
  answer: applyAnswerSchema.nullable(),
  /** The newest answer of any apply: a scheduled one may end after a later request was rejected. */
  latest: applyAnswerSchema.nullable(),
  generation: z.int(),
});
type FenceRecord = z.output<typeof fenceRecordSchema>;

export type Passage =
  | { readonly kind: 'pass' }
  | { readonly kind: 'repeat'; readonly answer: ApplyAnswer }
  | { readonly kind: 'conflict'; readonly reason: Conflict['reason'] };

/** The newest request that got past the fence, and its answer; durable, so that a restart forgets neither. */
export class Fence {
  readonly #file: LastRecord;
  #record: FenceRecord | undefined;

  constructor(baseDir: string, durability: Durability) {
    this.#file = new LastRecord(join(baseDir, 'fence.json'), durability);
    const stored = fenceRecordSchema.safeParse(this.#file.read());
    this.#record = stored.success ? stored.data : undefined;
  }

  get token(): Token | null {
    return this.#record?.token ?? null;
  }

  /** Committed applies so far. */
  get generation(): number {
    return this.#record?.generation ?? 0;
  }

  get lastAnswer(): ApplyAnswer | null {
    return this.#record?.latest ?? null;
  }

  /** Decides whether a request may write. An equal request without a stored answer was cut short: it may run again. */
  judge(request: ApplyRequest, applied: string | null): Passage {
    const last = this.#record;
    if (last !== undefined) {
      const order = compareTokens(request.token, last.token);
      const repeated = isSame(request, last);
      if (repeated && last.answer !== null) return { kind: 'repeat', answer: last.answer };
      if (order < 0 || (order === 0 && !repeated)) return { kind: 'conflict', reason: 'stale_epoch' };
      // The first attempt may have put its own files in place, or gone back, before it was cut short.
      if (repeated && (applied === request.planId || request.mode === 'revert_lkg')) return { kind: 'pass' };
    }
    if (request.expect === applied) return { kind: 'pass' };
    return { kind: 'conflict', reason: applied === null ? 'unknown_baseline' : 'prev_mismatch' };
  }

  /** From here on the request is the newest one. */
  enter(request: ApplyRequest): void {
    const { token, planId } = request;
    this.#write({ token, planId, answer: null, latest: this.lastAnswer, generation: this.generation });
  }

  /** Keeps the answer of a request; also for a repeat, where that is the request that entered last. */
  answered(request: Pick<ApplyRequest, 'token' | 'planId'>, answer: ApplyAnswer): void {
    const last = this.#record;
    if (last !== undefined) this.#keep(last, answer, isSame(request, last));
  }

  /** The end of a reload that was put off: also what a repeat gets, where the request that entered last was told to wait for it. */
  loadEnded(planId: string | null, answer: ApplyAnswer): void {
    const last = this.#record;
    if (last === undefined) return;
    this.#keep(last, answer, planId === last.planId && last.answer?.outcome === 'scheduled');
  }

  #keep(last: FenceRecord, answer: ApplyAnswer, isForRepeat: boolean): void {
    const repeated = isForRepeat ? answer : last.answer;
    // It is the answer, also where the disk is too full to keep it over a restart.
    this.#record = { ...last, answer: repeated, latest: answer, generation: answer.generation };
    this.#write(this.#record);
  }

  #write(record: FenceRecord): void {
    this.#file.write(record);
    this.#record = record;
  }
}

function isSame(
  a: Pick<ApplyRequest, 'token' | 'planId'>,
  b: Pick<FenceRecord, 'token' | 'planId'>,
): boolean {
  return compareTokens(a.token, b.token) === 0 && a.planId === b.planId;
}

function compareTokens(a: Token, b: Token): number {
  return a.epoch - b.epoch || a.seq - b.seq;
}
