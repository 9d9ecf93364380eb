import type { Digest } from '../contract/index.ts';

/** Lower-case hex SHA-256 of bytes, or of a text as UTF-8. Injected: this folder imports nothing of a platform. */
export type Hash = (data: string | Uint8Array) => Digest;

export interface TextFacts {
  readonly digest: Digest;
  /** Bytes as UTF-8. */
  readonly length: number;
}

const encoder = new TextEncoder();

export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

export function factsOf(text: string, hash: Hash): TextFacts {
  return { digest: hash(text), length: byteLength(text) };
}
