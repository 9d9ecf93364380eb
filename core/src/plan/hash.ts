import type { Digest } from '../contract/index.ts';

/** Lower-case hex SHA-256 of bytes, or of a text as UTF-8. Injected: this folder imports nothing of a platform. */
export type Hash = (data: string | Uint8Array) => Digest;

export interface TextFacts {
  readonly digest: Digest;
  /** Bytes as UTF-8. */
  readonly length: number;
}

const encoder = new TextEncoder();

/** Digests by text: hashed once while renders keep using the text. Holds the texts of the last two turns, no more. */
export class TextDigests {
  readonly #hash: Hash;
  #current = new Map<string, TextFacts>();
  #previous = new Map<string, TextFacts>();

  constructor(hash: Hash) {
    this.#hash = hash;
  }

  of(text: string): TextFacts {
    const known = this.#current.get(text);
    if (known !== undefined) return known;
    const facts = this.#previous.get(text) ?? {
      digest: this.#hash(text),
      length: encoder.encode(text).length,
    };
    this.#current.set(text, facts);
    return facts;
  }

  /** Called between renders: what was not asked for since the turn before is forgotten. */
  turn(): void {
    this.#previous = this.#current;
    this.#current = new Map();
  }
}
