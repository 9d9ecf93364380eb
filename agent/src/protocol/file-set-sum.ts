import { hash } from 'node:crypto';

/** What counts of a file of a set. */
export interface FileFacts {
  readonly path: string;
  readonly digest: string;
  readonly size: number;
  readonly kind: string;
  readonly reloadOnChange: boolean;
}

const MODULUS = 1n << 256n;

/**
 * The sum of the digests of its files' facts stands for a set: what comes, goes or changes costs one addition, however many files
 * there are. It guards two sides that trust each other against meaning different sets, not against one that looks for collisions.
 */
export type FileSetSum = bigint;

const EMPTY_SUM: FileSetSum = 0n;

function numberOf({ path, digest, size, kind, reloadOnChange }: FileFacts): bigint {
  return BigInt(`0x${hash('sha256', JSON.stringify([path, digest, size, kind, reloadOnChange]), 'hex')}`);
}

/** The sum of a set that this file comes into. */
export function withFile(sum: FileSetSum, file: FileFacts): FileSetSum {
  return (sum + numberOf(file)) % MODULUS;
}

/** The sum of a set that this file, with just these facts, goes from. */
export function withoutFile(sum: FileSetSum, file: FileFacts): FileSetSum {
  return (sum + MODULUS - numberOf(file)) % MODULUS;
}

/** The sum of a whole set, in whatever order. */
export function sumOf(files: Iterable<FileFacts>): FileSetSum {
  let sum = EMPTY_SUM;
  for (const file of files) sum = withFile(sum, file);
  return sum;
}

/** As an apply names it. */
export function fileSetDigest(sum: FileSetSum): string {
  return sum.toString(16).padStart(64, '0');
}
