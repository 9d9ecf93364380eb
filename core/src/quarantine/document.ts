import { Buffer } from 'node:buffer';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import type { KubeObject } from '../contract/index.ts';
import { deepFreeze } from '../values/deep-freeze.ts';
import type { Entry } from './entry.ts';
import { isSecret, keptRevision, keyOf } from './identity.ts';
import type { Offence } from './offenders.ts';

/** Bytes of a whole document. */
export const DOCUMENT_BUDGET = 256 * 1024;
/** Of one object, unpacked: more than a cluster stores. */
const LARGEST_OBJECT = 4 * 1024 * 1024;
/** Characters of a reason where there is no room for all of it. */
const SHORT_REASON = 200;

const Ref = z.strictObject({
  apiVersion: z.string(),
  kind: z.string().min(1),
  namespace: z.string(),
  name: z.string().min(1),
  uid: z.string().exactOptional(),
});

const Kept = z.strictObject({
  watch: z.string().min(1),
  object: Ref,
  revision: z.string(),
  reason: z.string(),
  instead: z.enum(['accepted', 'unavailable', 'nothing']),
  since: z.number(),
  refusedAt: z.number(),
  basis: z.string(),
  doubtful: z.boolean(),
  /** Packed. */
  accepted: z.base64().exactOptional(),
});
type Kept = z.output<typeof Kept>;

const Document = z.strictObject({
  version: z.literal(1),
  entries: z.array(Kept),
  offences: z.array(
    z.strictObject({
      namespace: z.string(),
      count: z.int().positive(),
      at: z.number(),
      watches: z.array(z.string()),
    }),
  ),
});

const Accepted = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().exactOptional() }),
});

export interface QuarantineDocument {
  readonly text: string;
  /** Keys of entries whose accepted revision is not in it. */
  readonly lost: ReadonlySet<string>;
}

/**
 * The quarantine as a document. What has no room is left out in this order: accepted revisions, the largest first; the ends of reasons;
 * reasons. The entries themselves stay.
 */
export function describeQuarantine(
  entries: readonly Entry[],
  offences: readonly Offence[],
  budget = DOCUMENT_BUDGET,
): QuarantineDocument {
  const lost = new Set<string>();
  const kept = entries.map((entry) => keptEntry(entry, lost));
  const write = (): string =>
    JSON.stringify({
      version: 1,
      entries: kept,
      offences: offences.map((offence) => ({ ...offence, watches: [...offence.watches] })),
    } satisfies z.input<typeof Document>);
  let text = write();
  const bySize = [...kept.entries()]
    .filter(([, { accepted }]) => accepted !== undefined)
    .sort(([, a], [, b]) => b.accepted!.length - a.accepted!.length);
  let surplus = Buffer.byteLength(text) - budget;
  for (const [index, { accepted, ...rest }] of bySize) {
    if (surplus <= 0) break;
    kept[index] = rest;
    lost.add(keyOf(rest.watch, rest.object));
    surplus -= accepted!.length;
  }
  for (const length of [SHORT_REASON, 0]) {
    text = write();
    if (Buffer.byteLength(text) <= budget) break;
    for (const [index, entry] of kept.entries())
      kept[index] = { ...entry, reason: entry.reason.slice(0, length) };
  }
  return { text: write(), lost };
}

function keptEntry(entry: Entry, lost: Set<string>): Kept {
  const { accepted, revision, object, ...rest } = entry;
  const kept = { ...rest, object: { ...object }, revision: keptRevision(object, revision) };
  if (accepted === undefined) return kept;
  if (!isSecret(object) && !isSecret(accepted)) return { ...kept, accepted: packed(accepted) };
  lost.add(keyOf(entry.watch, object));
  return kept;
}

const packings = new WeakMap<KubeObject, string>();

function packed(object: KubeObject): string {
  let text = packings.get(object);
  if (text === undefined) {
    text = gzipSync(JSON.stringify(object)).toString('base64');
    packings.set(object, text);
  }
  return text;
}

function unpacked(text: string): KubeObject {
  const json = gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: LARGEST_OBJECT }).toString('utf8');
  return deepFreeze(Accepted.parse(JSON.parse(json)) as unknown as KubeObject);
}

/** @throws for what is no such document */
export function parseQuarantine(text: string): {
  readonly entries: readonly Entry[];
  readonly offences: readonly Offence[];
} {
  const { entries, offences } = Document.parse(JSON.parse(text));
  return { entries: entries.map(entryOf), offences };
}

function entryOf({ accepted: text, ...kept }: Kept): Entry {
  const accepted = text === undefined ? undefined : unpacked(text);
  const isOf =
    accepted !== undefined &&
    accepted.metadata.name === kept.object.name &&
    (accepted.metadata.namespace ?? '') === kept.object.namespace &&
    accepted.kind === kept.object.kind &&
    !isSecret(accepted);
  // Without what was to be served instead, its routes answer 503.
  const instead = kept.instead === 'accepted' && !isOf ? 'unavailable' : kept.instead;
  return Object.freeze({ ...kept, instead, ...(isOf && { accepted }) });
}
