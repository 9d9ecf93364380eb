import { gunzipSync, gzipSync } from 'node:zlib';
import { Refused } from '@haptic/core/contract';

/** Larger documents are packed. Bytes. */
const LARGEST_PLAIN = 64 * 1024;
/** Of one document as it is stored. */
const LARGEST = 256 * 1024;
/** Of all documents together: a ConfigMap takes no more. */
const LARGEST_SUM = 1024 * 1024;
/** Unpacked: nobody else's object may cost us more. */
const LARGEST_UNPACKED = 16 * 1024 * 1024;

/** The fields of a ConfigMap that may hold a document: one of the two does. */
export interface DocumentFields {
  readonly data: Readonly<Record<string, string | null>>;
  readonly binaryData: Readonly<Record<string, string | null>>;
}

/** As a change of a ConfigMap, where null removes. @throws Refused for one that is too large */
export function documentFields(name: string, document: string): DocumentFields {
  if (Buffer.byteLength(document) <= LARGEST_PLAIN)
    return { data: { [name]: document }, binaryData: { [name]: null } };
  const packed = gzipSync(document);
  if (packed.length > LARGEST) {
    throw new Refused(
      `the document "${name}" is too large to be kept: ${packed.length} bytes, at most ${LARGEST}`,
    );
  }
  return { data: { [name]: null }, binaryData: { [name]: packed.toString('base64') } };
}

/** @throws Refused when all documents together would be too large, with what each of them takes */
export function checkSum(stored: Readonly<Record<string, unknown>>, change: DocumentFields): void {
  const sizes = new Map([...sizesOf(stored), ...sizesOf(change)]);
  const sum = sizes.values().reduce((before, size) => before + size, 0);
  if (sum <= LARGEST_SUM) return;
  const largestFirst = [...sizes].toSorted(([, one], [, other]) => other - one);
  const list = largestFirst.map(([name, size]) => `${name} ${size}`).join(', ');
  throw new Refused(
    `all documents together are too large to be kept: ${sum} bytes (${list}), at most ${LARGEST_SUM}`,
  );
}

/** Bytes, as the server counts them. */
function sizesOf({
  data,
  binaryData,
}: Readonly<Record<string, unknown>> | DocumentFields): readonly (readonly [string, number])[] {
  const sizes = (entries: unknown, encoding: 'utf8' | 'base64'): readonly (readonly [string, number])[] =>
    Object.entries((entries ?? {}) as Readonly<Record<string, unknown>>).flatMap(([name, text]) =>
      typeof text === 'string' ? [[name, Buffer.byteLength(text, encoding)] as const] : [],
    );
  return [...sizes(data, 'utf8'), ...sizes(binaryData, 'base64')];
}

/** Undefined where there is none. One that cannot be unpacked is empty: broken, as whoever reads it will find. */
export function documentOf(name: string, fields: Readonly<Record<string, unknown>>): string | undefined {
  const plain = textOf(fields['data'], name);
  if (plain !== undefined) return plain;
  const packed = textOf(fields['binaryData'], name);
  if (packed === undefined) return undefined;
  try {
    return gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: LARGEST_UNPACKED }).toString();
  } catch {
    return '';
  }
}

function textOf(entries: unknown, name: string): string | undefined {
  if (typeof entries !== 'object' || entries === null || !Object.hasOwn(entries, name)) return undefined;
  const text = (entries as Readonly<Record<string, unknown>>)[name];
  return typeof text === 'string' ? text : undefined;
}
