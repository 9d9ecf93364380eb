import { Unanswered } from './unanswered.ts';

/** Of a frame's body, either way. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;

const HEADER_BYTES = 4;

/** The length that stands before a body. */
export function frameHeader(bodyBytes: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(bodyBytes);
  return header;
}

/** Puts one frame together from pieces of any size. */
export class FrameReader {
  readonly #pieces: Buffer[] = [];
  #received = 0;
  #bodyBytes: number | undefined;

  /**
   * The body, once it is complete.
   *
   * @throws Unanswered when the frame is too large, or more than one frame was sent.
   */
  push(piece: Buffer): Buffer | undefined {
    this.#pieces.push(piece);
    this.#received += piece.length;
    if (this.#received < HEADER_BYTES) return undefined;
    this.#bodyBytes ??= this.#readHeader();
    const missing = HEADER_BYTES + this.#bodyBytes - this.#received;
    if (missing < 0) throw new Unanswered('sent more than one answer');
    return missing === 0 ? Buffer.concat(this.#pieces).subarray(HEADER_BYTES) : undefined;
  }

  /** How much of it came, for people. */
  get progress(): string | undefined {
    if (this.#received === 0) return undefined;
    const body = Math.max(0, this.#received - HEADER_BYTES);
    return this.#bodyBytes === undefined ? `${this.#received} bytes` : `${body} of ${this.#bodyBytes} bytes`;
  }

  #readHeader(): number {
    const bodyBytes = Buffer.concat(this.#pieces).readUInt32BE();
    if (bodyBytes > MAX_FRAME_BYTES) {
      throw new Unanswered(`announced an answer of ${bodyBytes} bytes, more than the 8 MiB that are allowed`);
    }
    return bodyBytes;
  }
}
