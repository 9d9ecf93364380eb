import { mergeSources, type OwnedKey } from '../config/index.ts';
import {
  Bug,
  CONFIG_CHANGES,
  CONTROLLER,
  FLEET,
  JUDGE_BINARY,
  SECURITY_FIELDS,
  TEMPLATE_NAMES,
  type ControllerAccess,
  type TemplateNames,
} from '../contract/index.ts';
import { controllerRules, createHooks, Host, offer, systemClock } from '../host/index.ts';
import { Pipeline } from '../pipeline/index.ts';
import { diff } from '../plan/index.ts';
import { Renderer, type Compile } from '../render/renderer.ts';
import { SecurityFieldsOfKinds } from '../quarantine/index.ts';
import type { Controller, ControllerOptions } from './api.ts';
import { branchRemark } from './branch-remark.ts';
import { ConfigChangesRelay } from './config-changes-relay.ts';
import { ComposedController } from './composed-controller.ts';
import { sha256 } from './sha256.ts';

/** What the template engine brings. */
export interface TemplateEngine {
  /** Plugins add to these during their set-up. */
  readonly names: TemplateNames;
  readonly compile: Compile;
}

/** What plugins see of the controller; they are set up before it is there. */
function access(controller: () => ComposedController | undefined): ControllerAccess {
  const there = (): ComposedController => {
    const found = controller();
    if (found === undefined) throw new Bug('the controller was asked while plugins were set up');
    return found;
  };
  return {
    status: () => controller()?.status() ?? { phase: 'idle' },
    health: () => there().host.health(),
    plugins: () =>
      there().host.plugins.map(({ plugin: { name }, origin: { use, version } }) => ({
        name,
        use,
        ...(version !== undefined && { version }),
      })),
    judgeProposal: (proposal, signal) => there().judgeProposal(proposal, signal),
  };
}

/** What nobody here uses nobody here needs. */
function withForeign(owned: readonly OwnedKey[], foreign: readonly OwnedKey[]): readonly OwnedKey[] {
  const others = foreign.filter(({ key }) => owned.every((own) => own.key !== key));
  return [...owned, ...others.map((other) => ({ ...other, schema: other.schema.optional() }))];
}

/** Taps of the core itself. */
const CORE = 'core';

/** A controller around a template engine. @throws PluginError for a plugin that can not be started. */
export async function composeController(
  options: ControllerOptions,
  engine: TemplateEngine,
): Promise<Controller> {
  const { log, plugins, meter, clock = systemClock } = options;
  const hooks = createHooks();
  const changes = new ConfigChangesRelay();
  const security = new SecurityFieldsOfKinds();
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
    services: [
      offer(TEMPLATE_NAMES, engine.names),
      offer(CONFIG_CHANGES, changes),
      offer(
        CONTROLLER,
        access(() => controller),
      ),
      offer(SECURITY_FIELDS, security),
    ],
  });
  const owned = withForeign(
    host.plugins.flatMap(({ plugin: { name, config } }) =>
      config === undefined ? [] : [{ plugin: name, ...config }],
    ),
    options.foreignKeys ?? [],
  );
  const pipeline = new Pipeline({
    hooks,
    merge: (set) => mergeSources(set, owned, sha256),
    renderer,
    hash: sha256,
    clock,
    remarks: async () => await branchRemark(host.tryUse(FLEET), host.use(JUDGE_BINARY)),
  });
  controller = new ComposedController(host, pipeline, { changes, security }, { ...options, clock });
  return controller;
}
