import { z } from 'zod';
import { Bug, Cancelled } from '../contract/errors.ts';
import type { Finding, JudgeKind, ReportedFinding } from '../contract/finding.ts';
import type { Rendered } from '../contract/render-plan.ts';
import { isSecretPlace, SECRET_WORDS } from '../contract/secret-parts.ts';
import type { JudgeLedger, JudgeRecord } from '../host/judge-ledger.ts';

const Reference = z.strictObject({
  apiVersion: z.string(),
  kind: z.string().min(1),
  namespace: z.string(),
  name: z.string().min(1),
  uid: z.string().optional(),
});

const Reported = z.strictObject({
  judge: z.string().min(1).optional(),
  severity: z.enum(['error', 'warning']),
  message: z.string().min(1),
  path: z.string().optional(),
  line: z.number().int().positive().optional(),
  column: z.number().int().positive().optional(),
  objects: z.array(Reference).optional(),
});

export interface LedgerOptions {
  /** For whoever has written the objects: else words about secret parts are not kept. */
  readonly showsSecrets?: boolean;
}

type State = 'running' | 'finished' | 'cancelled' | 'failed';

/** What the judges of one kind said in one run, and which of them finished. */
export class FindingLedger implements JudgeLedger {
  readonly #kind: JudgeKind;
  readonly #rendered: Rendered;
  readonly #options: LedgerOptions;
  readonly #entries: Entry[] = [];

  constructor(kind: JudgeKind, rendered: Rendered, options: LedgerOptions = {}) {
    this.#kind = kind;
    this.#rendered = rendered;
    this.#options = options;
  }

  open(judge: string, signal: AbortSignal | undefined): JudgeRecord {
    const entry = new Entry(judge, { kind: this.#kind, rendered: this.#rendered, ...this.#options }, signal);
    this.#entries.push(entry);
    return entry;
  }

  /** Every finding has a judge, so it goes through that judge's record. */
  add(): never {
    throw new Bug('a finding was added past the record of its judge');
  }

  get findings(): Finding[] {
    return this.#entries.flatMap((entry) => entry.findings);
  }

  /** A finding names its judge, or whom that judge asked, so it goes through the judge's record. */
  unanswered(): never {
    throw new Bug('a missing answer was noted past the record of its judge');
  }

  /** Errors of judges that finished: what an unfinished one said is no verdict. */
  get refused(): boolean {
    return this.#entries.some((entry) => entry.refused);
  }

  /** For each judge that is expected and did not finish, why. */
  unfinished(expected: readonly string[]): string[] {
    const reasons = this.#entries.flatMap((entry) => entry.unfinished);
    const missing = expected.slice(this.#entries.length).map((judge) => `${judge} was not asked`);
    return [...reasons, ...missing];
  }
}

interface EntryFacts extends LedgerOptions {
  readonly kind: JudgeKind;
  readonly rendered: Rendered;
}

/** The record of one judge. */
class Entry implements JudgeRecord {
  readonly findings: Finding[] = [];
  state: State = 'running';
  #foundError = false;
  /** Whom this judge asked in vain, and why. */
  readonly #unanswered: string[] = [];
  readonly #judge: string;
  readonly #facts: EntryFacts;
  readonly #signal: AbortSignal | undefined;
  #garbled: Error | undefined;
  #reason = 'has not answered';

  constructor(judge: string, facts: EntryFacts, signal: AbortSignal | undefined) {
    this.#judge = judge;
    this.#facts = facts;
    this.#signal = signal;
  }

  readonly collector = Object.freeze({
    add: (finding: ReportedFinding): void => this.#add(finding),
    unanswered: (judge: string, message: string): void => this.#noteUnanswered(judge, message),
  });

  finish(): void {
    if (this.#garbled !== undefined) this.fail(this.#garbled);
    else if (this.#signal?.aborted === true) this.fail(new Cancelled());
    else this.state = 'finished';
  }

  fail(error: unknown): void {
    if (error instanceof Cancelled || this.#signal?.aborted === true) {
      this.state = 'cancelled';
      this.#reason = 'was cancelled';
      return;
    }
    const text = error instanceof Error ? error.message : String(error);
    const prefix = `${this.#judge}: `;
    this.#reason = text.startsWith(prefix) ? text.slice(prefix.length) : text;
    this.#put({ severity: 'error', message: this.#reason });
    this.state = 'failed';
  }

  get refused(): boolean {
    return this.state === 'finished' && this.#foundError;
  }

  get unfinished(): readonly string[] {
    return this.state === 'finished' ? this.#unanswered : [`${this.#judge}: ${this.#reason}`];
  }

  /** A judge whose time is up may go on reporting: nobody listens any more. */
  #add(reported: ReportedFinding): void {
    if (this.state !== 'running') return;
    this.#checkReported(reported);
    this.#put(reported);
    this.#foundError ||= reported.severity === 'error';
  }

  #noteUnanswered(judge: string, message: string): void {
    if (this.state !== 'running') return;
    const finding = { judge, severity: 'error', message } as const;
    this.#checkReported(finding);
    this.#put(finding);
    this.#unanswered.push(`${judge}: ${message}`);
  }

  #checkReported(reported: ReportedFinding): void {
    const result = Reported.safeParse(reported);
    if (result.success) return;
    // Kept, so that a judge that catches this is not taken for one that found nothing.
    this.#garbled ??= new TypeError(`reported a garbled finding: ${z.prettifyError(result.error)}`);
    throw this.#garbled;
  }

  #put(reported: ReportedFinding): void {
    const { path, line } = reported;
    const { kind, rendered, showsSecrets = false } = this.#facts;
    const provenance = path === undefined || line === undefined ? undefined : rendered.locate(path, line);
    const isHidden = !showsSecrets && path !== undefined && isSecretPlace(rendered, path, line);
    this.findings.push(
      Object.freeze({
        ...reported,
        ...(isHidden && { message: SECRET_WORDS }),
        judge: reported.judge ?? this.#judge,
        phase: kind,
        ...(provenance === undefined ? {} : { provenance }),
      }),
    );
  }
}
