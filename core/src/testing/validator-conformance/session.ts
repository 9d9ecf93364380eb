import { readAnswer, type Answer, type Diagnostic } from './answer.ts';
import { frame, Peer, type Target } from './peer.ts';

export interface SampleFile {
  readonly path: string;
  readonly content: string;
}

export interface ConformanceOptions {
  /** How long an answer may take. Default 5 s, as for a declared validator. */
  readonly timeoutMs?: number;
  /** How long to look for a second answer behind one. Default 200 ms. */
  readonly quietMs?: number;
  /** A file that the validator judges, whatever it says about it. */
  readonly file?: SampleFile;
  /** Files with a known result. */
  readonly samples?: { readonly [K in Answer['result']]?: SampleFile };
  /** When the validator gives up on a request that stops halfway; checked only when it is given. */
  readonly stallMs?: number;
}

type Settled = Required<Pick<ConformanceOptions, 'timeoutMs' | 'quietMs' | 'file'>>;

/** Requests to the validator under test, and what must be true of every answer. */
export class Session {
  readonly target: Target;
  readonly options: ConformanceOptions & Settled;

  constructor(target: Target, options: ConformanceOptions) {
    const defaults = {
      timeoutMs: 5_000,
      quietMs: 200,
      file: { path: 'files/sample.txt', content: 'sample\n' },
    };
    this.target = target;
    this.options = { ...defaults, ...options };
  }

  connect(): Promise<Peer> {
    return Peer.connect(this.target, this.options.timeoutMs);
  }

  /** The body of a request about a file. */
  request(file: SampleFile = this.options.file, more: object = {}): string {
    return JSON.stringify({ protocol_version: 1, files: [file], ...more });
  }

  /** Sends a body and reads the answer. */
  async ask(peer: Peer, body: string | Buffer): Promise<Answer> {
    peer.send(frame(body));
    return readAnswer(await peer.frame());
  }

  /** Asks an ordinary question. */
  async judge(peer: Peer, file: SampleFile = this.options.file, more: object = {}): Promise<Answer> {
    return aboutFile(file, await this.ask(peer, this.request(file, more)));
  }

  /** Asks what the validator cannot judge: it says so in one error without a path. */
  async provoke(peer: Peer, body: string | Buffer): Promise<Diagnostic> {
    return protocolError(await this.ask(peer, body));
  }
}

/** The one diagnostic of an error of the protocol. @throws Error when the answer is something else. */
export function protocolError({ errors, warnings }: Answer): Diagnostic {
  const [error, ...others] = errors;
  if (error === undefined || others.length + warnings.length > 0) {
    throw new Error(
      `expected exactly one error, got ${errors.length} errors and ${warnings.length} warnings`,
    );
  }
  if (error.path !== '')
    throw new Error(`an error of the protocol has an empty path, this one has "${error.path}"`);
  return error;
}

/** The answer, if it judges the file. @throws Error when it speaks of something else. */
export function aboutFile({ path }: SampleFile, answer: Answer): Answer {
  const strange = [...answer.errors, ...answer.warnings].find((diagnostic) => diagnostic.path !== path);
  if (strange === undefined) return answer;
  if (strange.path === '') throw new Error(`the request was not judged: ${strange.message}`);
  throw new Error(`a diagnostic speaks of "${strange.path}", which is not to be judged`);
}
