/** Keeps the beginning of a stream, in whole lines, and says when there was more. */
export class CappedText {
  readonly #limit: number;
  readonly #chunks: Buffer[] = [];
  #kept = 0;
  #dropped = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    const taken = chunk.subarray(0, this.#limit - this.#kept);
    if (taken.length > 0) this.#chunks.push(taken);
    this.#kept += taken.length;
    this.#dropped += chunk.length - taken.length;
  }

  text(): string {
    const text = Buffer.concat(this.#chunks).toString('utf8');
    if (this.#dropped === 0) return text;
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    return `${whole}(cut: more than ${this.#limit} bytes)\n`;
  }
}
