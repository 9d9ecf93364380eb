import { gzipSync } from 'node:zlib';
import { hash } from 'node:crypto';
import type { RenderPlan } from '@haptic/core/contract';
import { planParts, type PlanPart, type Row } from './plan-parts.ts';

/** A part of a plan as agents keep it. */
export interface PlanChunk {
  readonly digest: string;
  /** Compressed. */
  readonly bytes: Buffer;
}

interface CutChunk extends PlanChunk {
  readonly rows: readonly Row[];
}

/** A chunk ends before one row in so many, whichever rows stand before it: a row that comes or goes changes one chunk. */
const ROWS = 32;

/** Cuts plans into chunks. Those that follow each other share most of them, and those are not made again. */
export class PlanChunks {
  readonly #plans = new WeakMap<RenderPlan, readonly PlanChunk[]>();
  /** Of the plan before, by part and first row. */
  #last: ReadonlyMap<string, CutChunk> = new Map();

  of(plan: RenderPlan): readonly PlanChunk[] {
    const known = this.#plans.get(plan);
    if (known !== undefined) return known;
    const byStart = new Map<string, CutChunk>();
    const list = [...planParts(plan)].flatMap((part) => this.#cut(part, byStart));
    this.#last = byStart;
    this.#plans.set(plan, list);
    return list;
  }

  /** Several chunks may begin with the same row: each is there, though only the last is found again. */
  #cut(part: PlanPart, byStart: Map<string, CutChunk>): readonly CutChunk[] {
    const { name, rows, keyOf } = part;
    const cut: CutChunk[] = [];
    for (let at = 0; at < rows.length;) {
      const id = `${name}\0${keyOf(rows[at]!)}\0${at === 0}`;
      const known = this.#last.get(id);
      const chunk =
        known !== undefined && continues(part, at, known.rows)
          ? known
          : build(name, rows.slice(at, endOf(part, at)));
      byStart.set(id, chunk);
      cut.push(chunk);
      at += chunk.rows.length;
    }
    return cut;
  }
}

function continues({ rows, keyOf }: PlanPart, at: number, known: readonly Row[]): boolean {
  const end = at + known.length;
  if (end > rows.length || (end < rows.length && !isStart(keyOf(rows[end]!)))) return false;
  return known.every((row, index) => sameRow(row, rows[at + index]!));
}

function endOf({ rows, keyOf }: PlanPart, at: number): number {
  let end = at + 1;
  while (end < rows.length && !isStart(keyOf(rows[end]!))) end += 1;
  return end;
}

/** Rows that are the same are mostly the identical object; those with a key are put together anew each time. */
function sameRow(a: Row, b: Row): boolean {
  return a === b || (Array.isArray(a) && Array.isArray(b) && a[0] === b[0] && a[1] === b[1]);
}

function isStart(key: string): boolean {
  let sum = 0;
  for (let at = 0; at < key.length; at += 1) sum = (Math.imul(sum, 31) + key.charCodeAt(at)) | 0;
  // The lowest bits alone would tell little.
  return ((sum ^ (sum >>> 11)) & (ROWS - 1)) === 0;
}

function build(name: string, rows: readonly Row[]): CutChunk {
  const bytes = gzipSync(JSON.stringify({ name, rows }), { level: 1 });
  return { digest: hash('sha256', bytes, 'hex'), bytes, rows };
}
