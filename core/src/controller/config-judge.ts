import {
  Cancelled,
  Refused,
  Retry,
  type Clock,
  type ConfigVersion,
  type Hooks,
  type JudgeBinary,
  type Log,
  type RenderInput,
} from '../contract/index.ts';
import type { Pipeline } from '../pipeline/index.ts';
import type { Quarantine } from '../quarantine/index.ts';
import { asError } from './as-error.ts';
import { backoff } from './backoff.ts';
import type { Candidate } from './config-loader.ts';
import type { Configurations } from './configurations.ts';
import { rejectionReason } from './gate-refusal.ts';
import { passLoadGate } from './load-gate.ts';
import type { Promotion } from './promotion.ts';
import type { Accepted } from './serving.ts';

/** `config`: it could not be loaded. `candidate`: it was, and did not pass the gate. */
export type ConfigStage = 'config' | 'candidate';

export interface ConfigJudgeParts {
  readonly hooks: Hooks;
  readonly pipeline: Pipeline;
  readonly judge: JudgeBinary;
  readonly clock: Clock;
  readonly log: Log;
  readonly configs: Configurations;
  readonly promotion: Promotion;
  readonly quarantine: Quarantine;
  /** What a render is about besides the configuration and the objects. */
  readonly surroundings: () => Promise<Omit<RenderInput, 'config' | 'view'>>;
  /** Asks for another try in so many milliseconds. */
  readonly tryIn: (stage: ConfigStage, ms: number) => void;
}

/** Lets configurations serve, or says why they must not. What serves goes on meanwhile, and after a refusal. */
export class ConfigJudge {
  readonly #parts: ConfigJudgeParts;
  readonly #failures: Record<ConfigStage, number> = { config: 0, candidate: 0 };
  #problem: Error | undefined;
  /** What was accepted last. */
  #told: ConfigVersion | undefined;

  constructor(parts: ConfigJudgeParts) {
    this.#parts = parts;
  }

  /** Why the newest configuration is not the one that serves. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  /** One was loaded. True if it is to be judged. */
  loaded(candidate: Candidate): boolean {
    this.#failures.config = 0;
    const isNew = this.#parts.configs.offer(candidate);
    if (!isNew && this.#problem !== undefined) this.#mended();
    else if (!isNew && !isSameVersion(candidate.version, this.#told)) this.#accepted();
    return isNew;
  }

  /** The render that an accepted one passed with; undefined when it was not accepted. @throws Cancelled when the process stops. */
  async judge(candidate: Candidate, signal: AbortSignal): Promise<Accepted | undefined> {
    const { configs, promotion, quarantine, surroundings } = this.#parts;
    try {
      const context = { signal, caller: 'load-gate' } as const;
      const { draft, ...accepted } = await passLoadGate(
        this.#parts,
        candidate,
        await surroundings(),
        context,
      );
      // A newer one was loaded meanwhile; it waits on the agenda.
      if (configs.candidate !== candidate) return undefined;
      this.#failures.candidate = 0;
      this.#problem = undefined;
      configs.accept(accepted.serving);
      quarantine.keep(draft);
      const contents = promotion.adopt(accepted.evaluation, accepted.input.contents);
      this.#tellAccepted(accepted);
      return { ...accepted, input: { ...accepted.input, contents } };
    } catch (error) {
      if (signal.aborted) throw error;
      this.rejected('candidate', asError(error), candidate.version);
      return undefined;
    }
  }

  /** What serves goes on; a user's mistake waits for its mend, anything else is tried again. */
  rejected(stage: ConfigStage, error: Error, version: ConfigVersion | undefined): void {
    const { hooks, log, configs, tryIn } = this.#parts;
    const serving = configs.serving !== undefined;
    if (!(error instanceof Refused)) tryIn(stage, backoff(++this.#failures[stage]));
    if (error instanceof Cancelled) return;
    this.#problem = error;
    if (error instanceof Retry) {
      log.warn({ err: error, serving }, 'a configuration could not be judged, it is tried again');
    } else {
      log.error({ err: error, serving }, 'a configuration was rejected');
      const reason = rejectionReason(stage, error);
      hooks.configRejected.call(error, Object.freeze({ reason, ...(version && { version }) }));
    }
  }

  /** What was wrong was taken back: what serves is what is wanted. */
  #mended(): void {
    this.#problem = undefined;
    const { log, configs } = this.#parts;
    log.info({ config: configs.serving!.config.digest }, 'the configuration is again the one that serves');
    this.#accepted();
  }

  #accepted(): void {
    const { hooks, configs } = this.#parts;
    const { config, version } = configs.serving!;
    this.#told = version;
    hooks.configAccepted.call(config, version);
  }

  #tellAccepted({ serving: { config } }: Accepted): void {
    const { log } = this.#parts;
    for (const { kind, name, of, by } of config.overrides) {
      log.info({ kind, name, of, by }, 'the configuration overrides a library');
    }
    for (const test of config.controller.skipTests) {
      const of = config.validationTests[test]?.origin.source;
      log.warn({ test, of }, 'the configuration leaves out a test of a library');
    }
    log.info({ config: config.digest }, 'accepted a configuration');
    this.#accepted();
  }
}

function isSameVersion(one: ConfigVersion | undefined, other: ConfigVersion | undefined): boolean {
  return one?.uid === other?.uid && one?.generation === other?.generation;
}
