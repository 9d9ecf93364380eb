import { mergeSources } from '../config/index.ts';
import {
  Bug,
  CONFIG_CHANGES,
  CONTENT_SOURCE,
  FLEET,
  JUDGE_BINARY,
  RESOURCE_SOURCE,
  TEMPLATE_NAMES,
  TERM,
  type Clock,
  type Hooks,
  type TemplateNames,
  type Term,
} from '../contract/index.ts';
import { controllerRules, createHooks, Host, offer, systemClock } from '../host/index.ts';
import { Pipeline } from '../pipeline/index.ts';
import { diff } from '../plan/index.ts';
import { Renderer, type Compile } from '../render/renderer.ts';
import type { Controller, ControllerOptions, ControllerStatus, RenderedOnce } from './api.ts';
import { branchRemark } from './branch-remark.ts';
import { ConfigChangesRelay } from './config-changes-relay.ts';
import { ReconcileLoop } from './reconcile-loop.ts';
import { renderOnce } from './render-once.ts';
import { sha256 } from './sha256.ts';
import { validateOnce, type Validated, type ValidateOptions } from './validate-once.ts';

/** What the template engine brings. */
export interface TemplateEngine {
  /** Plugins add to these during their set-up. */
  readonly names: TemplateNames;
  readonly compile: Compile;
}

const ALWAYS_LEADER: Term = Object.freeze({ leader: true, epoch: 1, signal: new AbortController().signal });

/** Taps of the core itself. */
const CORE = 'core';

class ComposedController implements Controller {
  readonly host: Host<Hooks>;
  readonly pipeline: Pipeline;
  readonly #options: ControllerOptions & { readonly clock: Clock };
  readonly #changes: ConfigChangesRelay;
  #loop: ReconcileLoop | undefined;
  #stopped = false;

  constructor(
    host: Host<Hooks>,
    pipeline: Pipeline,
    changes: ConfigChangesRelay,
    options: ControllerOptions & { readonly clock: Clock },
  ) {
    this.host = host;
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
      phase: this.#stopped ? 'stopped' : running,
      gate: dispatcher.gateStatus,
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
    const loop = new ReconcileLoop({
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
      this.#stopped = true;
    }
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

  onConfigChange(listener: () => void): void {
    this.#changes.listen(listener);
  }

  close(): Promise<void> {
    return this.host.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A controller around a template engine. @throws PluginError for a plugin that can not be started. */
export async function composeController(
  options: ControllerOptions,
  engine: TemplateEngine,
): Promise<Controller> {
  const { log, plugins, meter, clock = systemClock } = options;
  const hooks = createHooks();
  const changes = new ConfigChangesRelay();
  const renderer = new Renderer(engine.compile, sha256, clock);
  let controller: ComposedController | undefined;
  hooks.render.tapPromise(CORE, (input, context) => renderer.render(input, context));
  hooks.plan.tap(CORE, diff);
  hooks.leadership.tap(CORE, () => controller?.leadershipChanged());
  const host = await Host.start({
    ...controllerRules,
    hooks,
    plugins,
    log,
    clock,
    ...(meter && { meter }),
    services: [offer(TEMPLATE_NAMES, engine.names), offer(CONFIG_CHANGES, changes)],
  });
  const owned = host.plugins.flatMap(({ plugin: { name, config } }) =>
    config === undefined ? [] : [{ plugin: name, ...config }],
  );
  const pipeline = new Pipeline({
    hooks,
    merge: (set) => mergeSources(set, owned, sha256),
    renderer,
    hash: sha256,
    clock,
    remarks: async () => await branchRemark(host.tryUse(FLEET), host.use(JUDGE_BINARY)),
  });
  controller = new ComposedController(host, pipeline, changes, { ...options, clock });
  return controller;
}
