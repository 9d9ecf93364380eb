import type { FileEntry, FileSet } from '@haptic/core/contract';
import { frameHeader, MAX_FRAME_BYTES } from './frame.ts';
import { Unanswered } from './unanswered.ts';

export const PROTOCOL_VERSION = 1;

/** One frame in pieces: requests of one validator share the riders' bytes. */
export type Frame = readonly Buffer[];

/** The requests of one validator about one set of files. */
export class Requests {
  readonly #files: FileSet;
  readonly #data: readonly FileEntry[];
  readonly #stagedRoot: string;
  #riders: Buffer | undefined;

  /** @param stagedRoot The folder that paths are relative to where HAProxy runs. */
  constructor(files: FileSet, data: readonly FileEntry[], stagedRoot: string) {
    this.#files = files;
    this.#data = data;
    this.#stagedRoot = stagedRoot;
  }

  /** @throws Unanswered for what the protocol can not carry. */
  about({ path }: FileEntry): Frame {
    const head = `{"protocol_version":${PROTOCOL_VERSION},"staged_root":${JSON.stringify(this.#stagedRoot)},"files":[`;
    const judged = JSON.stringify({ path, content: this.#read(path) });
    this.#riders ??= this.#encodeRiders();
    const body = [Buffer.from(head + judged), this.#riders, Buffer.from(']}')];
    const bytes = body.reduce((sum, { length }) => sum + length, 0);
    if (bytes > MAX_FRAME_BYTES) {
      throw new Unanswered(
        `can not be asked: the request has ${bytes} bytes, more than the 8 MiB that are allowed`,
      );
    }
    return [frameHeader(bytes), ...body];
  }

  #encodeRiders(): Buffer {
    const riders = this.#data.map(({ path }) => ({ path, content: this.#read(path), kind: 'data' }));
    return Buffer.from(riders.map((rider) => `,${JSON.stringify(rider)}`).join(''));
  }

  #read(path: string): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.#files.read(path));
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      throw new Unanswered(`can not be asked: ${path} is not UTF-8 text`, { cause });
    }
  }
}
