import {
  Cancelled,
  Refused,
  Retry,
  type Clock,
  type Fleet,
  type FleetFacts,
  type HookContext,
  type Hooks,
  type JudgeBinary,
  type Log,
  type RenderInput,
  type RenderPlan,
  type ResourceSource,
  type StoreChange,
  type Term,
} from '../contract/index.ts';
import { NOTHING_RETAINED, retainProfiles } from '../plan/index.ts';
import type { Evaluation, Pipeline } from '../pipeline/index.ts';
import { Agenda } from './agenda.ts';
import { backoff } from './backoff.ts';
import { ChangedObjects, type Cause } from './changed-objects.ts';
import { ConfigLoader, type Candidate } from './config-loader.ts';
import { Configurations } from './configurations.ts';
import { Debounce } from './debounce.ts';
import { Deployer } from './deployer.ts';
import { fleetFacts, isOutdated } from './fleet-facts.ts';
import { passLoadGate } from './load-gate.ts';
import { sha256 } from './sha256.ts';
import { describeFinding, verdictError } from './verdict-error.ts';
import type { Serving } from './serving.ts';

/** `config`: load. `candidate`: judge what was loaded. `reconcile`: render and judge. `deploy`: look at the pods. */
type Task = 'config' | 'candidate' | 'reconcile' | 'deploy';

/** The writes of one change of several objects come this close together; never more than the limit for all of them. */
const CONFIG_QUIET_MS = 500;
const CONFIG_LIMIT_MS = 5_000;

/** A configuration that was refused while another one serves is tried again when objects change, at this pace. */
const HELD_RETRY_MS = 5_000;

export interface ReconcileParts {
  readonly hooks: Hooks;
  readonly pipeline: Pipeline;
  readonly source: ResourceSource;
  readonly fleet: Fleet;
  readonly judge: JudgeBinary;
  readonly term: () => Term;
  readonly clock: Clock;
  readonly log: Log;
}

/** From changes to deployments, one thing at a time. Whatever is refused leaves what serves as it is. */
export class ReconcileLoop {
  readonly #parts: ReconcileParts;
  readonly #agenda: Agenda<Task>;
  readonly #debounce: Debounce;
  readonly #configs: Configurations;
  readonly #loader: ConfigLoader;
  readonly #deployer: Deployer;
  readonly #changed: ChangedObjects;
  #plan: RenderPlan | undefined;
  #input: RenderInput | undefined;
  #retention = NOTHING_RETAINED;
  #configProblem: Error | undefined;
  #renderProblem: Error | undefined;
  #fleet: FleetFacts | undefined;
  readonly #failures: Record<Task, number> = { config: 0, candidate: 0, reconcile: 0, deploy: 0 };

  constructor(parts: ReconcileParts) {
    const { pipeline, clock } = parts;
    this.#parts = parts;
    this.#agenda = new Agenda(clock);
    this.#debounce = new Debounce(clock);
    this.#changed = new ChangedObjects(clock);
    this.#configs = new Configurations({
      ...parts,
      onServingChange: (changes, serving) => this.#objectsChanged(changes, serving),
      onCandidateChange: ({ merged }) => {
        const pace = this.#configs.serving === undefined ? merged.controller.debounce : HELD_RETRY_MS;
        this.#agenda.add('candidate', pace);
      },
    });
    this.#loader = new ConfigLoader({
      pipeline,
      clock,
      watch: (merged) => this.#configs.watch(merged),
      onCandidate: (candidate) => this.#loaded(candidate),
      onFailure: (error) => this.#rejected('config', error),
    });
    this.#deployer = new Deployer({ ...parts, retryIn: (ms) => this.#agenda.add('deploy', ms) });
  }

  get serving(): Serving | undefined {
    return this.#configs.serving;
  }

  /** The last plan that every judge passed. */
  get plan(): RenderPlan | undefined {
    return this.#plan;
  }

  /** Why the newest configuration, or the newest render, is not the one that serves. */
  /** What the last plan was rendered from. */
  get input(): RenderInput | undefined {
    return this.#input;
  }

  get problem(): Error | undefined {
    return this.#configProblem ?? this.#renderProblem;
  }

  /** The set may have changed. */
  configChanged(): void {
    this.#agenda.postpone('config', CONFIG_QUIET_MS, CONFIG_LIMIT_MS);
  }

  /** Who leads deploys; whoever begins to has something to deploy. */
  leadershipChanged(): void {
    this.#agenda.add('reconcile');
  }

  /** Until the signal aborts; then resolves when nothing runs any more. */
  async run(signal: AbortSignal): Promise<void> {
    const stopListening = this.#parts.fleet.onChange(() => this.#fleetChanged());
    this.#agenda.add('config');
    try {
      for (;;) await this.#work(await this.#agenda.take(signal), signal);
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
    } finally {
      stopListening();
      this.#loader.stop();
      this.#configs.stop();
      await this.#deployer.idle();
    }
  }

  /** Nothing that goes wrong in one piece of work ends the loop. @throws Cancelled */
  async #work(tasks: ReadonlySet<Task>, signal: AbortSignal): Promise<void> {
    try {
      await this.#steps(tasks, signal);
    } catch (error) {
      if (signal.aborted) throw new Cancelled('the controller stops', { cause: error });
      this.#parts.log.error({ err: error }, 'the reconcile loop met a bug');
    }
  }

  async #steps(tasks: ReadonlySet<Task>, signal: AbortSignal): Promise<void> {
    const { candidate } = this.#configs;
    if (tasks.has('config')) this.#loader.restart(signal);
    if (tasks.has('candidate') && candidate !== undefined) await this.#judge(candidate, signal);
    const { serving } = this.#configs;
    if (tasks.has('reconcile') && serving !== undefined) await this.#reconcile(serving, signal);
    if (tasks.has('deploy')) this.#deployer.refresh();
  }

  // What happens elsewhere only puts work on the agenda.

  #objectsChanged(changes: readonly StoreChange[], { merged }: Serving): void {
    this.#changed.add(changes);
    const intervals = changes.map(({ watch }) => merged.watchedResources[watch]!.debounce);
    this.#agenda.add('reconcile', this.#debounce.delay(Math.min(...intervals, merged.controller.debounce)));
  }

  #fleetChanged(): void {
    this.#agenda.add('deploy');
    const rendered = this.#fleet;
    if (rendered !== undefined && isOutdated(rendered, this.#parts.fleet)) this.#agenda.add('reconcile');
  }

  #loaded(candidate: Candidate): void {
    this.#failures.config = 0;
    if (this.#configs.offer(candidate)) this.#agenda.add('candidate');
    else if (this.#configProblem !== undefined) this.#mended();
  }

  /** What was wrong was taken back: what serves is what is wanted. */
  #mended(): void {
    this.#configProblem = undefined;
    const { hooks, log } = this.#parts;
    const { config } = this.#configs.serving!;
    log.info({ config: config.digest }, 'the configuration is again the one that serves');
    hooks.configAccepted.call(config);
  }

  async #judge(candidate: Candidate, signal: AbortSignal): Promise<void> {
    const context = { signal, caller: 'load-gate' } as const;
    const since = this.#parts.clock.now();
    try {
      const fleet = await this.#facts();
      const accepted = await passLoadGate(this.#parts, candidate, { fleet, ...this.#carried() }, context);
      // A newer one was loaded meanwhile; it waits on the agenda.
      if (this.#configs.candidate !== candidate) return;
      this.#failures.candidate = 0;
      this.#configProblem = undefined;
      this.#configs.accept(accepted.serving);
      this.#acceptedConfig(accepted.serving);
      this.#publish(
        accepted.evaluation,
        accepted.input,
        { changes: [], since },
        this.#authority(signal).signal,
      );
    } catch (error) {
      if (signal.aborted) throw error;
      this.#rejected('candidate', asError(error));
    }
  }

  #acceptedConfig({ config }: Serving): void {
    const { hooks, log } = this.#parts;
    for (const { kind, name, of, by } of config.overrides) {
      log.info({ kind, name, of, by }, 'the configuration overrides a library');
    }
    log.info({ config: config.digest }, 'accepted a configuration');
    hooks.configAccepted.call(config);
  }

  /** What serves goes on; a user's mistake waits for its mend, anything else is tried again. */
  #rejected(task: 'config' | 'candidate', error: Error): void {
    const { hooks, log } = this.#parts;
    const serving = this.#configs.serving !== undefined;
    if (!(error instanceof Refused)) this.#agenda.add(task, backoff(++this.#failures[task]));
    if (error instanceof Cancelled) return;
    this.#configProblem = error;
    if (error instanceof Retry) {
      log.warn({ err: error, serving }, 'a configuration could not be judged, it is tried again');
    } else {
      log.error({ err: error, serving }, 'a configuration was rejected');
      hooks.configRejected.call(error);
    }
  }

  async #reconcile(serving: Serving, signal: AbortSignal): Promise<void> {
    const { pipeline, log } = this.#parts;
    const { leader, signal: authority } = this.#authority(signal);
    const context: HookContext = { signal: authority, caller: 'reconcile' };
    this.#debounce.began();
    const cause = this.#changed.take();
    const { changes } = cause;
    try {
      const { config, watching } = serving;
      const subject = { config, view: watching.view(), fleet: await this.#facts(), ...this.#carried() };
      if (!leader) {
        await pipeline.render(subject, context);
        return;
      }
      const evaluation = await pipeline.evaluate(subject, context);
      const { rendered, verdict, durations } = evaluation;
      log.info({ changes, planId: rendered.plan.id, verdict: verdict.kind, ...durations }, 'reconciled');
      this.#settle(evaluation, subject, cause, authority);
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof Cancelled) return;
      this.#failed(asError(error), changes);
    }
  }

  #settle(evaluation: Evaluation, input: RenderInput, cause: Cause, authority: AbortSignal): void {
    const { hooks, log } = this.#parts;
    const { verdict, rendered } = evaluation;
    if (verdict.kind === 'passed') return this.#publish(evaluation, input, cause, authority);
    const error = verdictError(verdict);
    this.#renderProblem = error;
    if (verdict.kind === 'interrupted') {
      log.warn({ err: error }, 'a render could not be judged, it is tried again');
      this.#agenda.add('reconcile', backoff(++this.#failures.reconcile));
      return;
    }
    log.error({ err: error, planId: rendered.plan.id }, 'a render was refused, what serves stays');
    this.#forgetProfiles();
    hooks.refused.call({ stage: 'validate', plan: rendered.plan, verdict });
  }

  /** Nobody has them, so they must not be what holds up the others. */
  #forgetProfiles(): void {
    if (this.#retention.profiles.length === 0) return;
    this.#retention = NOTHING_RETAINED;
    this.#agenda.add('reconcile');
  }

  #failed(error: Error, changes: readonly string[]): void {
    const { hooks, log } = this.#parts;
    this.#renderProblem = error;
    log.error({ err: error, changes }, 'a render failed, what serves stays');
    hooks.refused.call({ stage: 'render', error });
    if (!(error instanceof Refused)) this.#agenda.add('reconcile', backoff(++this.#failures.reconcile));
  }

  /** Every judge passed it. */
  #publish(
    { rendered, verdict }: Evaluation,
    input: RenderInput,
    cause: Cause,
    authority: AbortSignal,
  ): void {
    this.#failures.reconcile = 0;
    this.#renderProblem = undefined;
    this.#plan = rendered.plan;
    this.#input = input;
    this.#retention = retainProfiles(this.#retention, rendered, this.#parts.clock.wall(), sha256);
    for (const finding of verdict.findings) {
      this.#parts.log.warn({ finding: describeFinding(finding), path: finding.path }, 'a judge warns');
    }
    if (this.#parts.term().leader) this.#deployer.update({ rendered, cause, validated: true }, authority);
  }

  #authority(signal: AbortSignal): { readonly leader: boolean; readonly signal: AbortSignal } {
    const term = this.#parts.term();
    return { leader: term.leader, signal: term.leader ? AbortSignal.any([signal, term.signal]) : signal };
  }

  /** What one render hands to the next. */
  #carried(): Pick<RenderInput, 'current' | 'retainedProfiles'> {
    if (this.#plan === undefined) return {};
    return { current: this.#plan, retainedProfiles: this.#retention.profiles };
  }

  async #facts(): Promise<FleetFacts> {
    this.#fleet = await fleetFacts(this.#parts.fleet, this.#parts.judge);
    return this.#fleet;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
