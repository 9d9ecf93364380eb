import {
  Cancelled,
  Refused,
  Retry,
  type Clock,
  type ConfigVersion,
  type Hooks,
  type JudgeBinary,
  type Log,
} from '../contract/index.ts';
import type { Pipeline } from '../pipeline/index.ts';
import type { Quarantine } from '../quarantine/index.ts';
import { asError } from './as-error.ts';
import { backoff } from './backoff.ts';
import type { Candidate } from './config-loader.ts';
import type { Configurations } from './configurations.ts';
import { rejectionReason } from './gate-refusal.ts';
import { passLoadGate, passOverObjects, type GatePassed, type Surroundings } from './load-gate.ts';
import type { Promotion } from './promotion.ts';
import { unservedOf, type Accepted } from './serving.ts';

/** Repeats that hold up nothing. After them changes wait for the last one: a busy cluster is not to keep a configuration out for ever. */
const MOST_REPEATS = 3;

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
  readonly surroundings: () => Promise<Surroundings>;
  /** Whoever has begun to lead holds what the leader before did. */
  readonly takeUp: (signal: AbortSignal) => Promise<void>;
  /** Has one that passed judged once more, over what is so now. */
  readonly repeat: (examined: Examined, signal: AbortSignal) => void;
  /** Asks for another try in so many milliseconds. */
  readonly tryIn: (stage: ConfigStage, ms: number) => void;
}

/** A configuration that passed everything, and what was so then. */
export interface Examined {
  readonly candidate: Candidate;
  readonly passed: GatePassed;
  readonly surroundings: Surroundings;
  /** What was held, as the quarantine tells it. */
  readonly holds: object;
  /** When it began, by the monotonic clock. */
  readonly since: number;
  /** How often it was judged once more, over what went out meanwhile. */
  readonly repeats: number;
}

/** Lets configurations serve, or says why they must not. What serves goes on meanwhile, and after a refusal. */
export class ConfigJudge {
  readonly #parts: ConfigJudgeParts;
  readonly #failures: Record<ConfigStage, number> = { config: 0, candidate: 0 };
  /** Calls off what is judged while everything waits for it. */
  #off = new AbortController();
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
    this.#off.abort();
    const isNew = this.#parts.configs.offer(candidate);
    if (!isNew && this.#problem !== undefined) this.#mended();
    else if (!isNew && !isSameVersion(candidate.version, this.#told)) this.#accepted();
    return isNew;
  }

  /**
   * What a configuration passes everything with; undefined when it does not, or when a newer one was loaded meanwhile. Nothing is
   * changed by it, so that anything else may go on at the same time.
   *
   * @param before It passed then: only what depends on live objects is judged again.
   * @throws Cancelled
   */
  async examine(candidate: Candidate, signal: AbortSignal, before?: Examined): Promise<Examined | undefined> {
    const { clock, quarantine } = this.#parts;
    const since = clock.now();
    const { holds } = quarantine;
    try {
      const surroundings = await this.#parts.surroundings();
      const context = { signal, caller: 'load-gate' } as const;
      if (before === undefined) {
        const passed = await passLoadGate(this.#parts, candidate, surroundings, context);
        return { candidate, passed, surroundings, holds, since, repeats: 0 };
      }
      const passed = await passOverObjects(this.#parts, before.passed.serving, surroundings, context);
      return { ...before, passed, surroundings, holds, repeats: before.repeats + 1 };
    } catch (error) {
      return this.#notPassed(candidate, error, signal);
    }
  }

  /**
   * Lets a configuration serve that passed. What went on meanwhile is not in the render that did: then there is another one, over the
   * newest state, and it is judged as well.
   *
   * @returns the render to send out; undefined when it was not accepted, or is judged once more
   * @throws Cancelled when the process stops.
   */
  async accept(examined: Examined, signal: AbortSignal): Promise<Accepted | undefined> {
    const { configs, promotion, quarantine } = this.#parts;
    const { candidate } = examined;
    try {
      const passed = await this.#passed(examined, signal);
      // In the same turn as what follows: one that is loaded now would be dropped by it.
      if (passed === undefined || configs.candidate !== candidate) return undefined;
      const { draft, ...accepted } = passed;
      this.#failures.candidate = 0;
      this.#problem = undefined;
      configs.accept(accepted.serving);
      quarantine.keep(draft);
      const contents = promotion.adopt(accepted.evaluation, accepted.input.contents);
      this.#tellAccepted(accepted);
      return { ...accepted, input: { ...accepted.input, contents } };
    } catch (error) {
      return this.#notPassed(candidate, error, signal);
    }
  }

  /** With what is so now; undefined for one that nobody waits for any more, or that is to be judged once more. */
  async #passed(examined: Examined, signal: AbortSignal): Promise<GatePassed | undefined> {
    const { candidate } = examined;
    const { configs, quarantine, takeUp, repeat, tryIn } = this.#parts;
    const off = new AbortController();
    this.#off = off;
    const context = { signal: AbortSignal.any([signal, off.signal]), caller: 'load-gate' } as const;
    let { passed, holds } = examined;
    let isCurrent = isStillSo(examined.surroundings, await this.#parts.surroundings());
    for (;;) {
      // A term may have begun while it was judged.
      await takeUp(signal);
      // A newer one may have been loaded; it waits on the agenda.
      if (configs.candidate !== candidate) return undefined;
      if (unservedOf(candidate) !== passed.serving.unserved) {
        // It is to be prepared for other kinds.
        tryIn('candidate', 0);
        return undefined;
      }
      if (isCurrent && holds === quarantine.holds) return passed;
      if (examined.repeats < MOST_REPEATS) {
        repeat(examined, signal);
        return undefined;
      }
      ({ holds } = quarantine);
      const surroundings = await this.#parts.surroundings();
      passed = await passOverObjects(this.#parts, passed.serving, surroundings, context);
      isCurrent = true;
    }
  }

  #notPassed(candidate: Candidate, error: unknown, signal: AbortSignal): undefined {
    if (signal.aborted) throw error;
    if (this.#parts.configs.candidate !== candidate) return;
    this.rejected('candidate', asError(error), candidate.version);
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

/**
 * Whether nothing else went out since, and a render would be for the same pods: then the one that passed is the newest there is, though
 * objects may have changed.
 */
function isStillSo(then: Surroundings, now: Surroundings): boolean {
  return (
    now.contents === then.contents &&
    now.current === then.current &&
    now.dispatched === then.dispatched &&
    now.retainedProfiles === then.retainedProfiles &&
    now.fleet.haproxyVersion === then.fleet.haproxyVersion &&
    now.fleet.paths.base === then.fleet.paths.base &&
    now.fleet.paths.workerSocket === then.fleet.paths.workerSocket
  );
}

function isSameVersion(one: ConfigVersion | undefined, other: ConfigVersion | undefined): boolean {
  return one?.uid === other?.uid && one?.generation === other?.generation;
}
