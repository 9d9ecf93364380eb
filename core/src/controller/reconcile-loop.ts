import {
  Cancelled,
  type Clock,
  type ContentSource,
  type Fleet,
  type Hooks,
  type JudgeBinary,
  type Log,
  type RenderInput,
  type ResourceSource,
  type StoreChange,
  type Term,
} from '../contract/index.ts';
import { withDeadline } from '../host/deadline.ts';
import type { Pipeline } from '../pipeline/index.ts';
import type { Quarantine } from '../quarantine/index.ts';
import type { KeptProfiles } from '../state/index.ts';
import { Agenda } from './agenda.ts';
import { ChangedObjects } from './changed-objects.ts';
import { ConfigJudge, type Examined } from './config-judge.ts';
import { ConfigLoader, type Candidate } from './config-loader.ts';
import { Configurations } from './configurations.ts';
import { Debounce } from './debounce.ts';
import type { Dispatcher } from './dispatcher.ts';
import { Examinations } from './examinations.ts';
import { Promotion } from './promotion.ts';
import { Reconciler } from './reconciler.ts';
import type { Serving } from './serving.ts';

/**
 * `candidate`: have what was loaded examined. `passed`: let it serve.
 * `contents`: judge what templates read anew. `reconcile`: render and judge. `trials`: try held objects by themselves. `deploy`: look
 * at the pods after that.
 */
type Task = 'candidate' | 'passed' | 'contents' | 'reconcile' | 'trials' | 'deploy';

/** Longest wait for what the leader before has kept, milliseconds. */
const TAKE_UP_MS = 5_000;

/** The writes of one change of several objects come this close together; never more than the limit for all of them. */
const CONFIG_QUIET_MS = 500;
const CONFIG_LIMIT_MS = 5_000;

/** A configuration that was refused while another one serves is tried again when objects change, at this pace. */
const HELD_RETRY_MS = 5_000;

export interface ReconcileParts {
  readonly hooks: Hooks;
  readonly pipeline: Pipeline;
  readonly source: ResourceSource;
  readonly contents: ContentSource | undefined;
  readonly quarantine: Quarantine;
  readonly profiles: KeptProfiles;
  readonly fleet: Fleet;
  readonly judge: JudgeBinary;
  readonly term: () => Term;
  readonly clock: Clock;
  readonly log: Log;
}

/** From changes to work, one piece at a time, each over the newest state. What happens elsewhere only puts work on the agenda. */
export class ReconcileLoop {
  readonly #parts: ReconcileParts;
  readonly #agenda: Agenda<Task>;
  /** When to look at the pods: they get what there is for them however long somebody judges what is new. */
  readonly #looks: Agenda<'look'>;
  /** When to load: a newer configuration ends the wait for the one that is judged. */
  readonly #loads: Agenda<'load'>;
  readonly #debounce: Debounce;
  readonly #changed: ChangedObjects;
  readonly #configs: Configurations;
  readonly #loader: ConfigLoader;
  readonly #configJudge: ConfigJudge;
  readonly #examinations: Examinations;
  /** The term whose predecessor's state was taken up. */
  #takenUp: AbortSignal | undefined;
  /** Passed, and is to serve. */
  #examined: Examined | undefined;
  readonly #reconciler: Reconciler;
  readonly #promotion: Promotion;

  constructor(parts: ReconcileParts) {
    const { pipeline, clock } = parts;
    this.#parts = parts;
    this.#agenda = new Agenda(clock);
    this.#looks = new Agenda(clock);
    this.#loads = new Agenda(clock);
    this.#debounce = new Debounce(clock);
    this.#changed = new ChangedObjects(clock);
    const promotion = new Promotion(parts.contents, clock);
    this.#promotion = promotion;
    this.#configs = new Configurations({
      ...parts,
      onServingChange: (changes, serving) => this.#objectsChanged(changes, serving),
      onCandidateChange: (candidate) => this.#candidateChanged(candidate),
    });
    this.#reconciler = new Reconciler({
      ...parts,
      term: () => this.#term(),
      promotion,
      reconcileIn: (ms) => this.#agenda.add('reconcile', ms),
      repeatIn: (ms) => {
        this.#changed.putBack();
        this.#agenda.add('reconcile', ms);
      },
      promoteIn: (ms) => this.#agenda.add('contents', ms),
      tryIn: (ms) => this.#agenda.add('trials', ms),
      lookIn: (ms) => this.#looks.add('look', ms),
    });
    this.#configJudge = new ConfigJudge({
      ...parts,
      configs: this.#configs,
      promotion,
      surroundings: () => this.#reconciler.surroundings(),
      takeUp: (signal) => this.#takeUp(signal),
      repeat: (examined, signal) => this.#examinations.start(examined.candidate, signal, examined),
      tryIn: (stage, ms) => {
        if (stage === 'config') this.#loads.add('load', ms);
        else this.#agenda.add(stage, ms);
      },
    });
    this.#examinations = new Examinations({
      ...parts,
      examine: (candidate, signal, before) => this.#configJudge.examine(candidate, signal, before),
      onPassed: (examined) => {
        this.#examined = examined;
        this.#agenda.add('passed');
      },
      onAskedMeanwhile: (examined) => this.#askedMeanwhile(examined),
    });
    this.#loader = new ConfigLoader({
      pipeline,
      clock,
      watch: (merged) => this.#configs.watch(merged),
      onCandidate: (candidate) => {
        this.#examinations.cancel();
        promotion.dropCandidate();
        if (this.#configJudge.loaded(candidate)) this.#agenda.add('candidate');
      },
      onFailure: (error, version) => this.#configJudge.rejected('config', error, version),
    });
  }

  get serving(): Serving | undefined {
    return this.#configs.serving;
  }

  get dispatcher(): Pick<Dispatcher, 'releases' | 'gateStatus'> {
    return this.#reconciler.dispatcher;
  }

  /** Why the newest configuration, or the newest render, is not the one that serves. */
  get problem(): Error | undefined {
    const { quarantine, profiles } = this.#parts;
    const problem = this.#configJudge.problem ?? this.#reconciler.problem;
    // A leader that takes up another one's state meanwhile is not kept from anything by that.
    return this.serving === undefined ? (problem ?? quarantine.unread ?? profiles.unread) : problem;
  }

  /** What is served to whoever judges a proposal; undefined while nothing serves. */
  async served(): Promise<RenderInput | undefined> {
    const { serving } = this.#configs;
    if (serving === undefined) return undefined;
    const input = await this.#reconciler.input(serving);
    return { ...input, view: this.#parts.quarantine.effective(input) };
  }

  /** The set may have changed. */
  configChanged(): void {
    this.#loads.postpone('load', CONFIG_QUIET_MS, CONFIG_LIMIT_MS);
  }

  /** Who leads deploys; whoever begins to has something to deploy, and a predecessor whose state counts. */
  leadershipChanged(): void {
    this.#agenda.add('reconcile');
  }

  /** Until the signal aborts; then resolves when nothing runs any more. */
  async run(signal: AbortSignal): Promise<void> {
    const stopListening = this.#parts.fleet.onChange(() => this.#fleetChanged());
    const stopPending = this.#promotion.onPending(() => this.#contentsChanged());
    this.#loads.add('load');
    try {
      const { leader, signal: term } = this.#parts.term();
      await Promise.all([this.#parts.quarantine.restore(signal), this.#parts.profiles.restore(signal)]);
      if (leader) this.#takenUp = term;
      // They end when the signal aborts, and all are to have ended before anything is closed.
      await Promise.allSettled([this.#workOn(signal), this.#lookAfterPods(signal), this.#load(signal)]);
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
    } finally {
      stopListening();
      stopPending();
      this.#loader.stop();
      await this.#examinations.idle();
      this.#configs.stop();
      await this.#reconciler.idle();
      await Promise.all([this.#parts.quarantine.close(), this.#parts.profiles.close()]);
    }
  }

  /** @throws Cancelled */
  async #workOn(signal: AbortSignal): Promise<never> {
    for (;;) await this.#work(await this.#agenda.take(signal), signal);
  }

  /** @throws Cancelled */
  async #load(signal: AbortSignal): Promise<never> {
    for (;;) {
      await this.#loads.take(signal);
      this.#loader.restart(signal);
    }
  }

  /** @throws Cancelled */
  async #lookAfterPods(signal: AbortSignal): Promise<never> {
    for (;;) {
      await this.#looks.take(signal);
      try {
        const { isReleaseOutdated, dispatcher } = this.#reconciler;
        if (isReleaseOutdated || dispatcher.isInDoubt) this.#agenda.add('deploy');
        else dispatcher.look();
      } catch (error) {
        this.#parts.log.error({ err: error }, 'looking after the pods met a bug');
      }
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
    if (tasks.has('passed')) await this.#accept(signal);
    const { serving, candidate } = this.#configs;
    if (tasks.has('candidate') && candidate !== undefined) this.#examinations.start(candidate, signal);
    if (serving !== undefined) await this.#takeUp(signal);
    if (tasks.has('contents') && serving !== undefined) {
      const since = this.#parts.clock.now();
      await this.#reconciler.promote(serving, { changes: ['contents'], since }, signal);
    }
    // That may have taken its time, and a term may have begun meanwhile.
    if (serving !== undefined) await this.#takeUp(signal);
    if (tasks.has('reconcile') && serving !== undefined) {
      this.#debounce.began();
      await this.#reconciler.reconcile(serving, this.#changed.take(), signal);
    }
    if (tasks.has('trials') && serving !== undefined) this.#reconciler.tryHeld(serving, signal);
    if (tasks.has('deploy')) this.#lookAfterwards();
  }

  /** What is out is sent on, unless there is to be another render for these pods at once. */
  #lookAfterwards(): void {
    const { isReleaseOutdated, dispatcher } = this.#reconciler;
    if (isReleaseOutdated && this.#agenda.isDue('reconcile')) this.#agenda.add('deploy');
    else dispatcher.look();
  }

  /**
   * Once in a term, before anything goes out in it. A state store that does not answer must not keep a leader from its work: it then
   * knows what it knows itself.
   */
  async #takeUp(signal: AbortSignal): Promise<void> {
    const { leader, signal: term } = this.#parts.term();
    if (!leader || term === this.#takenUp) return;
    this.#takenUp = term;
    const { quarantine, clock } = this.#parts;
    const limits = { ms: TAKE_UP_MS, signal: AbortSignal.any([signal, term]), clock };
    try {
      await withDeadline((limit) => quarantine.takeUp(limit), limits);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#parts.log.warn({ err: error }, 'the state of the leader before is not known');
    }
  }

  /** Whoever does not hold yet what the leader before did leads nobody. */
  #term(): Term {
    const term = this.#parts.term();
    return term.signal === this.#takenUp ? term : { ...term, leader: false };
  }

  async #accept(signal: AbortSignal): Promise<void> {
    const examined = this.#examined;
    this.#examined = undefined;
    if (examined === undefined) return;
    const accepted = await this.#configJudge.accept(examined, signal);
    if (accepted === undefined) return;
    this.#reconciler.publish(accepted, { changes: [], since: examined.since }, signal);
    // Objects that changed while it was judged are not in it.
    const { serving, revision } = accepted;
    if (serving.watching.view().revision !== revision) this.#agenda.add('reconcile');
  }

  #objectsChanged(changes: readonly StoreChange[], { merged }: Serving): void {
    this.#changed.add(changes);
    const intervals = changes.map(({ watch }) => merged.watchedResources[watch]!.debounce);
    this.#agenda.add('reconcile', this.#debounce.delay(Math.min(...intervals, merged.controller.debounce)));
  }

  #candidateChanged({ merged }: Candidate): void {
    const pace = this.#configs.serving === undefined ? merged.controller.debounce : HELD_RETRY_MS;
    this.#agenda.add('candidate', pace);
  }

  /** What has come meanwhile is looked at at once, what has only changed at its pace. */
  #askedMeanwhile(examined: Candidate): void {
    const { candidate } = this.#configs;
    if (candidate === examined) this.#candidateChanged(candidate);
    else if (candidate !== undefined) this.#agenda.add('candidate');
  }

  /** A configuration that waits may have been waiting for this. */
  #contentsChanged(): void {
    this.#agenda.add('contents');
    if (this.#configs.candidate !== undefined) this.#agenda.add('candidate');
  }

  #fleetChanged(): void {
    if (this.#reconciler.isRenderOutdated) this.#agenda.add('reconcile');
    this.#looks.add('look');
  }
}
