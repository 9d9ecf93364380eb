import { Buffer } from 'node:buffer';
import { z } from 'zod';
import type { StoreView } from '../contract/index.ts';
import type { Hash } from '../plan/index.ts';
import { isSecret, keyOf, type Revisions } from './identity.ts';

/** Of a digest's hexadecimal text: enough that two objects of a cluster are hardly ever taken for each other. */
const MARK_HEX = 12;
const MARK_BYTES = MARK_HEX / 2;
/** Marks of one document at most; what is beyond counts as never accepted. */
const MOST_MARKS = 16_384;

const Document = z.strictObject({
  version: z.literal(1),
  basis: z.string(),
  marks: z.base64().max(MOST_MARKS * MARK_BYTES * 2),
});

/**
 * Which contents of which objects were accepted before the last restart, and with what. An object that was accepted then and is
 * refused now has not become bad by itself.
 */
export class KnownRevisions {
  readonly basis: string;
  readonly #marks: ReadonlySet<string>;
  readonly #hash: Hash;

  constructor(basis: string, marks: ReadonlySet<string>, hash: Hash) {
    this.basis = basis;
    this.#marks = marks;
    this.#hash = hash;
  }

  has(key: string, revision: string): boolean {
    return this.#marks.has(markOf(key, revision, this.#hash));
  }

  /** @throws for what is no such document */
  static parse(text: string, hash: Hash): KnownRevisions {
    const { basis, marks } = Document.parse(JSON.parse(text));
    const hex = Buffer.from(marks, 'base64').toString('hex');
    return new KnownRevisions(basis, new Set(hex.match(/.{12}/g) ?? []), hash);
  }

  /** Secrets are left out: a mark of one could be used to guess its data. */
  static describe(view: StoreView, basis: string, revisions: Revisions, hash: Hash): string {
    const marks: string[] = [];
    for (const watch of view.watches) {
      for (const object of view.watch(watch).list()) {
        if (isSecret(object)) continue;
        marks.push(markOf(keyOf(watch, object.metadata), revisions.of(object), hash));
      }
    }
    const kept = Buffer.from(marks.slice(0, MOST_MARKS).join(''), 'hex').toString('base64');
    return JSON.stringify({ version: 1, basis, marks: kept } satisfies z.input<typeof Document>);
  }
}

function markOf(key: string, revision: string, hash: Hash): string {
  return hash(`${key}\0${revision}`).slice(0, MARK_HEX);
}
