import {
  ALWAYS_LEADER,
  Bug,
  CONTENT_SOURCE,
  FLEET,
  JUDGE_BINARY,
  METER,
  RESOURCE_SOURCE,
  Retry,
  STATE_STORE,
  TERM,
  type Clock,
  type ControllerStatus,
  type Hooks,
  type Proposal,
  type ProposalAnswer,
} from '../contract/index.ts';
import { noMeter, type Host } from '../host/index.ts';
import { RelayMeter } from '../host/meter.ts';
import type { Pipeline } from '../pipeline/index.ts';
import { Quarantine, type SecurityFieldsOfKinds } from '../quarantine/index.ts';
import { KeptProfiles } from '../state/index.ts';
import type { Controller, ControllerOptions, RenderedOnce } from './api.ts';
import type { ConfigChangesRelay } from './config-changes-relay.ts';
import { judgeProposal } from './proposal.ts';
import { ReconcileLoop } from './reconcile-loop.ts';
import { renderOnce } from './render-once.ts';
import { sha256 } from './sha256.ts';
import { validateOnce, type Validated, type ValidateOptions } from './validate-once.ts';

/** What stands around a host of plugins: the loop while it runs, and everything that is done once. */
export class ComposedController implements Controller {
  readonly host: Host<Hooks>;
  readonly pipeline: Pipeline;
  readonly #options: ControllerOptions & { readonly clock: Clock };
  readonly #changes: ConfigChangesRelay;
  readonly #security: SecurityFieldsOfKinds;
  #quarantine: Quarantine | undefined;
  #loop: ReconcileLoop | undefined;
  #ending: 'stopping' | 'stopped' | undefined;

  constructor(
    host: Host<Hooks>,
    pipeline: Pipeline,
    { changes, security }: { readonly changes: ConfigChangesRelay; readonly security: SecurityFieldsOfKinds },
    options: ControllerOptions & { readonly clock: Clock },
  ) {
    this.host = host;
    this.#security = security;
    this.pipeline = pipeline;
    this.#changes = changes;
    this.#options = options;
  }

  status(): ControllerStatus {
    const loop = this.#loop;
    if (loop === undefined) return { phase: 'idle' };
    const { serving, problem, dispatcher } = loop;
    const { accepted, dispatched } = dispatcher.releases;
    const running = serving === undefined ? 'waiting' : 'serving';
    return {
      phase: this.#ending ?? running,
      gate: dispatcher.gateStatus,
      quarantine: this.#quarantine?.held ?? [],
      ...(serving && { config: serving.config }),
      ...(accepted && { plan: accepted.rendered.plan, input: accepted.input }),
      ...(dispatched && { dispatched: dispatched.rendered.plan.id }),
      ...(problem && { problem }),
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#loop !== undefined) throw new Bug('a controller runs once');
    const { clock, log } = this.#options;
    const { host, pipeline } = this;
    const quarantine = this.#newQuarantine();
    this.#quarantine = quarantine;
    const store = host.tryUse(STATE_STORE);
    const loop = new ReconcileLoop({
      quarantine,
      profiles: new KeptProfiles({ hash: sha256, clock, log: log.child({ component: 'profiles' }), store }),
      hooks: host.hooks,
      pipeline,
      source: host.use(RESOURCE_SOURCE),
      contents: host.tryUse(CONTENT_SOURCE),
      fleet: host.use(FLEET),
      judge: host.use(JUDGE_BINARY),
      term: () => host.tryUse(TERM)?.current() ?? ALWAYS_LEADER,
      clock,
      log: log.child({ component: 'controller' }),
    });
    this.#loop = loop;
    this.#changes.listen(() => loop.configChanged());
    const terms = host.tryUse(TERM);
    const stopListening = terms?.onChange(() => {
      const { leader, epoch } = terms.current();
      host.hooks.leadership.call({ leader, epoch });
    });
    try {
      await loop.run(signal);
    } finally {
      stopListening?.();
      this.#ending = 'stopped';
    }
  }

  announceStop(): void {
    this.#ending ??= 'stopping';
  }

  /** Who leads has changed. */
  leadershipChanged(): void {
    this.#loop?.leadershipChanged();
  }

  renderOnce(
    signal: AbortSignal,
    { judge = true }: { readonly judge?: boolean } = {},
  ): Promise<RenderedOnce> {
    const { host, pipeline } = this;
    const { clock, log } = this.#options;
    const parts = {
      pipeline,
      source: host.use(RESOURCE_SOURCE),
      fleet: host.tryUse(FLEET),
      judge: host.use(JUDGE_BINARY),
      clock,
      log,
    };
    return renderOnce(parts, signal, judge);
  }

  validate(signal: AbortSignal, options: ValidateOptions = {}): Promise<Validated> {
    const { host, pipeline } = this;
    const { clock } = this.#options;
    const judge = host.tryUse(JUDGE_BINARY);
    return validateOnce({ pipeline, hooks: host.hooks, judge, clock }, signal, options);
  }

  async judgeProposal(proposal: Proposal, signal: AbortSignal): Promise<ProposalAnswer> {
    const served = await this.#loop?.served();
    if (served === undefined) throw new Retry('no configuration serves yet');
    return await judgeProposal(this.pipeline, served, proposal, { signal, caller: 'admission' });
  }

  onConfigChange(listener: () => void): void {
    this.#changes.listen(listener);
  }

  close(): Promise<void> {
    return this.host.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #newQuarantine(): Quarantine {
    const { clock, log, meter = noMeter } = this.#options;
    const { hooks } = this.host;
    const measuring = this.host.tryUse(METER) ?? meter;
    return new Quarantine({
      hash: sha256,
      clock,
      log: log.child({ component: 'quarantine' }),
      // What it throws is its own affair.
      meter: new RelayMeter(measuring, log, clock),
      security: this.#security,
      store: this.host.tryUse(STATE_STORE),
      onChange: (change) => hooks.quarantined.call(change),
    });
  }
}
