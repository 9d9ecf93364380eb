import pLimit from 'p-limit';
import {
  Cancelled,
  type Candidate,
  type Clock,
  type FileEntry,
  type FindingCollector,
  type Log,
  type Meter,
  type MetricDefinition,
} from '@haptic/core/contract';
import { Client } from './client.ts';
import { findingsOf } from './findings.ts';
import { Requests } from './request.ts';
import type { Response } from './response.ts';
import { select } from './selection.ts';
import { Unanswered } from './unanswered.ts';
import type { Validator } from './validators.ts';

/** Of all validators together. */
const MOST_IN_FLIGHT = 16;

const REQUESTS: MetricDefinition = {
  name: 'haptic_validator_requests_total',
  help: 'Requests to external validators by result; failed: there was no answer',
  labels: ['validator', 'result'],
};

export interface JudgeParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
}

/** What became of the request about one file. */
type Asked = { readonly file: FileEntry } & (
  { readonly response: Response } | { readonly failure: Unanswered }
);

/** Asks every validator about every file that is its to judge, every time. */
export class ExternalJudge {
  readonly #parts: JudgeParts;
  readonly #inFlight = pLimit(MOST_IN_FLIGHT);
  /** Validators that have series. */
  readonly #measured = new Set<string>();
  /** By everything that makes a connection's validator the same one. */
  readonly #clients = new Map<string, Client>();

  constructor(parts: JudgeParts) {
    this.#parts = parts;
  }

  /** @throws Cancelled when the signal aborts: part of the answers is none. */
  async judge(
    validators: readonly Validator[],
    candidate: Pick<Candidate, 'rendered' | 'fleet'>,
    findings: FindingCollector,
    signal: AbortSignal,
  ): Promise<void> {
    const runs = validators.map((validator) => this.#judgeBy(validator, candidate, findings, signal));
    const outcomes = await Promise.allSettled(runs);
    this.#forgetUnused();
    if (signal.aborted) throw new Cancelled('the validators were called off', { cause: signal.reason });
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** Ends the series of validators that are declared no more, or were by a configuration that never came to serve. */
  measureOnly(names: readonly string[]): void {
    for (const validator of this.#measured) {
      if (names.includes(validator)) continue;
      this.#parts.meter.remove(REQUESTS, { validator });
      this.#measured.delete(validator);
    }
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
  }

  async #judgeBy(
    validator: Validator,
    { rendered: { files }, fleet }: Pick<Candidate, 'rendered' | 'fleet'>,
    findings: FindingCollector,
    signal: AbortSignal,
  ): Promise<void> {
    const { judged, data } = select(validator, files.entries);
    if (judged.length === 0) return;
    const requests = new Requests(files, data, fleet.paths.base);
    const client = this.#clientOf(validator);
    const unaskedBefore = client.unasked;
    const asked = await allOf(
      judged.map((file) => this.#inFlight(() => this.#ask(validator, client, { requests, file, signal }))),
    );
    const paths = new Set(files.entries.map(({ path }) => path));
    for (const outcome of asked) {
      if ('failure' in outcome) continue;
      const reported = findingsOf(validator.name, outcome.response, (path) => paths.has(path));
      for (const finding of reported) findings.add(finding);
    }
    for (const message of failuresOf(asked)) findings.unanswered(validator.name, message);
    // Without ids on answers, one too many may have been taken for the answer to another request.
    if (client.unasked > unaskedBefore) {
      findings.unanswered(validator.name, 'sent more answers than it was asked for, so none of them counts');
    }
  }

  async #ask(
    { name }: Validator,
    client: Client,
    {
      requests,
      file,
      signal,
    }: { readonly requests: Requests; readonly file: FileEntry; readonly signal: AbortSignal },
  ): Promise<Asked> {
    signal.throwIfAborted();
    try {
      const response = await client.ask(requests.about(file), signal);
      this.#count(name, response.result);
      return { file, response };
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      this.#count(name, 'failed');
      return { file, failure: error };
    }
  }

  #count(validator: string, result: string): void {
    this.#measured.add(validator);
    this.#parts.meter.count(REQUESTS, { validator, result });
  }

  #clientOf(validator: Validator): Client {
    const { name, socketPath, maxConnections, timeoutMs } = validator;
    const key = JSON.stringify([name, socketPath, maxConnections, timeoutMs]);
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const client = new Client(validator, this.#parts.clock, () => {
      this.#parts.log.warn({ validator: name }, 'a validator sent an answer that it was not asked for');
    });
    this.#clients.set(key, client);
    return client;
  }

  /** Of validators that were declared otherwise, once their connections are closed. */
  #forgetUnused(): void {
    for (const [key, client] of this.#clients) if (client.isUnused) this.#clients.delete(key);
  }
}

/** Waits for all, also after one failed, and then fails as the first that did. */
async function allOf<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const outcomes = await Promise.allSettled(work);
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** Each failure once, with the files that it is about: a dead validator fails for all of them. */
function failuresOf(asked: readonly Asked[]): readonly string[] {
  const files = new Map<string, string[]>();
  for (const outcome of asked) {
    if (!('failure' in outcome)) continue;
    const { message } = outcome.failure;
    files.set(message, [...(files.get(message) ?? []), outcome.file.path]);
  }
  return Array.from(files, ([message, [first, ...others]]) => {
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return `${message} (asked about ${first}${more})`;
  });
}
