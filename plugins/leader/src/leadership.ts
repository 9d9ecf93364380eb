import { isDeepStrictEqual } from 'node:util';
import { Cancelled, type Term, type Terms } from '@haptic/core/contract';
import { Alone } from './alone.ts';
import { Candidacy, type CandidacyParts } from './candidacy.ts';
import { DEFAULT_SETTINGS, type ElectionSettings } from './election-settings.ts';

export interface LeadershipParts extends Omit<CandidacyParts, 'leaseName' | 'settings' | 'changed'> {
  /** False: nobody else is there, so there is nothing to be elected for. */
  readonly enabled: boolean;
  /** Asked when the candidacy begins: until then it may not be known what the Lease is named after. */
  readonly leaseName: () => string;
  readonly signal: AbortSignal;
  /** Told of the candidacy when it begins; it resolves once the signal has aborted. */
  readonly begun: (running: Promise<void>) => void;
}

const nobody: Term = Object.freeze({ leader: false, epoch: 0, signal: AbortSignal.abort() });

/** Who leads. Nobody does before there is a configuration to say how the election goes. */
export class Leadership implements Terms {
  readonly #parts: LeadershipParts;
  readonly #listeners = new Set<() => void>();
  #terms: Pick<Terms, 'current' | 'raise'> | undefined;
  #candidacy: Candidacy | undefined;
  #timing = DEFAULT_SETTINGS;

  constructor(parts: LeadershipParts) {
    this.#parts = parts;
  }

  current(): Term {
    return this.#terms?.current() ?? nobody;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  raise(seen: number, signal: AbortSignal): Promise<number> {
    return this.#terms?.raise(seen, signal) ?? Promise.reject(new Cancelled('nobody leads yet'));
  }

  /** Why the Lease was not read or written the last time that this was tried. */
  get problem(): string | undefined {
    return this.#candidacy?.elector.problem;
  }

  /** Stands for election, with this timing; does nothing when it does so already. */
  begin(settings: ElectionSettings): void {
    const { enabled, signal, begun, ...parts } = this.#parts;
    if (this.#terms !== undefined || signal.aborted) return;
    this.#timing = settings;
    const changed = (): void => this.#changed();
    if (!enabled) {
      this.#terms = new Alone(1);
      changed();
      return;
    }
    this.#candidacy = new Candidacy({ ...parts, leaseName: parts.leaseName(), settings, changed });
    this.#terms = this.#candidacy.elector;
    begun(this.#candidacy.run(signal));
  }

  /** From now on with this timing; a term goes on. */
  retime(settings: ElectionSettings): void {
    if (this.#candidacy === undefined || isDeepStrictEqual(settings, this.#timing)) return;
    const fields = { before: this.#timing, now: settings };
    this.#parts.log.info(fields, 'the timing of the election changes');
    this.#timing = settings;
    this.#candidacy.retime(settings);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
