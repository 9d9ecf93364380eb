import type {
  Clock,
  ConfigVersion,
  ControllerAccess,
  Fleet,
  JsonObject,
  Log,
  Meter,
  MergedConfig,
  Outcome,
  QuarantineChange,
  ReachableKind,
  Rejection,
  Rendered,
  StateStore,
  Term,
  z,
} from '@haptic/core/contract';
import { refusalProblem, type KubeConnection, type Reporter } from '@haptic/kube';
import type { Address } from './addresses/address.ts';
import { AddressWriter, type DesiredAddresses } from './addresses/address-writer.ts';
import { ignoredFields } from './addresses/as-accepted.ts';
import { NOTHING_PUBLISHED, publishedAddresses } from './addresses/published-addresses.ts';
import { ServiceAddresses } from './addresses/service-addresses.ts';
import { ConditionWriter, NO_CONDITIONS, publishedConditions } from './conditions/condition-writer.ts';
import { ConfigStatusWriter } from './config-status/config-status.ts';
import { acceptance, rejection, type ConfigVerdict } from './config-status/verdict.ts';
import { configOccurrence, releasedOccurrence } from './events/occurrences.ts';
import { TermEvents } from './events/term-events.ts';
import { NOTHING_TOLD, toldEvents } from './events/told-events.ts';
import { HAProxyCfg, type DesiredCfg } from './haproxy-cfg/haproxy-cfg.ts';
import { appliedResources, NOTHING_APPLIED } from './resources/applied-resources.ts';
import { ResourceWriter, type DesiredResources } from './resources/resource-writer.ts';
import { PUBLISH_KEY, type PublishSettings } from './settings.ts';
import { Inventory } from './writing/inventory.ts';
import { Writer, type WriterParts } from './writing/writer.ts';

export interface PublisherParts {
  readonly kube: KubeConnection;
  readonly term: () => Term;
  readonly store: StateStore | undefined;
  readonly controller: Pick<ControllerAccess, 'status'>;
  /** Undefined until the plugin that provides it is set up. */
  readonly fleet: () => Fleet | undefined;
  readonly kinds: readonly ReachableKind[];
  readonly addresses: readonly Address[];
  readonly service: { readonly namespace: string; readonly name: string } | undefined;
  readonly reporter: Reporter;
  readonly fieldManager: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  /** Aborts when the process stops. */
  readonly signal: AbortSignal;
}

/** New objects come one by one: what is kept of them is written for several at once. Milliseconds. */
const STATUS_PACE_MS = 1_000;

/** From what the core tells to what is desired of each kind of output; the writers do the rest. */
export class Publisher {
  readonly #parts: PublisherParts;
  readonly #events: TermEvents;
  readonly #config: Writer<ConfigVerdict>;
  readonly #addresses: Writer<DesiredAddresses['kinds']>;
  readonly #conditions: Writer<readonly JsonObject[]>;
  readonly #resources: Writer<DesiredResources>;
  readonly #cfg: Writer<DesiredCfg>;
  readonly #told: Writer<readonly string[]>;
  readonly #haproxyCfg: HAProxyCfg;
  readonly #service: ServiceAddresses | undefined;
  #version: ConfigVersion | undefined;
  /** The last release of this term. */
  #released: Omit<DesiredCfg, 'config'> | undefined;
  #stopFollowing: (() => void) | undefined;

  constructor(parts: PublisherParts) {
    this.#parts = parts;
    const { kube, clock, log, meter, signal, service } = parts;
    const touch = (): void => this.#addresses.touch();
    const told = this.#inventory('told-events', toldEvents, NOTHING_TOLD);
    this.#told = this.#writer({
      what: 'which Events were told',
      ofTerm: true,
      pace: () => STATUS_PACE_MS,
      write: (digests, pass) => told.write({ version: 1, told: [...digests] }, pass.signal),
    });
    const memory = {
      recall: async (term: AbortSignal): Promise<readonly string[]> => (await told.read(term)).told,
      keep: (digests: readonly string[]): void => this.#told.want(digests),
    };
    this.#events = new TermEvents({ ...parts, api: kube.api, memory }, signal);
    this.#haproxyCfg = new HAProxyCfg({
      api: kube.api,
      pods: () => parts.fleet()?.pods() ?? [],
      wall: () => clock.wall(),
    });
    this.#service =
      service && new ServiceAddresses({ api: kube.api, service, changed: touch, clock, log, meter });
    const configStatus = new ConfigStatusWriter({
      api: kube.api,
      wall: () => clock.wall(),
      news: (verdict) => this.#events.record(configOccurrence(verdict)),
    });
    this.#config = this.#writer({
      what: 'the status of the config',
      ofTerm: false,
      write: (verdict, pass) => configStatus.write(verdict, pass),
    });
    const addressWriter = this.#addressWriter();
    this.#addresses = this.#writer({
      what: 'the addresses of objects',
      ofTerm: true,
      pace: () => STATUS_PACE_MS,
      write: (kinds, pass) => addressWriter.write({ kinds, addresses: this.#currentAddresses }, pass),
    });
    const conditionWriter = this.#conditionWriter();
    this.#conditions = this.#writer({
      what: 'the conditions of objects',
      ofTerm: true,
      pace: () => STATUS_PACE_MS,
      write: (statuses, pass) => conditionWriter.write(statuses, pass),
    });
    const resourceWriter = this.#resourceWriter();
    this.#resources = this.#writer({
      what: 'declared resources',
      ofTerm: true,
      write: (desired, pass) => resourceWriter.write(desired, pass),
    });
    this.#cfg = this.#writer({
      what: 'the HAProxyCfg',
      ofTerm: true,
      pace: ({ interval }) => interval,
      write: (desired, pass) => this.#haproxyCfg.write(desired, pass),
    });
  }

  configAccepted(_config: MergedConfig, version: ConfigVersion | undefined): void {
    if (version === undefined) return;
    this.#useVersion(version);
    this.#config.want(acceptance(version));
  }

  configRejected(error: Error, { reason, version }: Rejection): void {
    if (version === undefined) return;
    if (version.uid !== this.#version?.uid) this.#useVersion(version);
    this.#config.want(rejection(error, { reason, version }));
  }

  released(rendered: Rendered, { owned, watchedResources }: MergedConfig): void {
    this.#follow();
    const { plan } = rendered;
    this.#events.released(plan.events);
    const view = this.#parts.controller.status().input?.view;
    if (view !== undefined) {
      const kinds = this.#parts.kinds.map((kind) => ({
        ...kind,
        ...kind.served(view),
        ignored: ignoredFields(kind, watchedResources),
      }));
      this.#addresses.want(kinds);
    }
    this.#conditions.want(plan.statuses);
    this.#released = { rendered, ...(owned[PUBLISH_KEY] as PublishSettings) };
    if (this.#version === undefined) this.#events.problems([]);
    else this.#wantOwned(this.#released, this.#version);
  }

  applied(outcomes: readonly Outcome[]): void {
    this.#haproxyCfg.applied(outcomes);
    this.#cfg.touch();
  }

  quarantined({ released, all }: QuarantineChange): void {
    this.#events.held(all);
    for (const object of released) this.#events.record(releasedOccurrence(object));
  }

  /** Which rights or credentials are missing, for people. */
  get problem(): string | undefined {
    return refusalProblem(this.#writers.flatMap(({ refusal }) => refusal ?? []));
  }

  /** A term has begun or ended. */
  termChanged(): void {
    const term = this.#parts.term();
    this.#released = undefined;
    this.#events.termChanged(term);
    for (const writer of this.#writers) writer.termChanged();
    if (!term.leader) return;
    // What was found before there was anybody to tell.
    this.#events.held(this.#parts.controller.status().quarantine ?? []);
  }

  /** Until the process stops; then resolves when nothing is being written any more. */
  async run(): Promise<void> {
    const { signal } = this.#parts;
    const term = this.#parts.term();
    if (term.leader) this.#events.termChanged(term);
    await Promise.all([...this.#writers.map((writer) => writer.run(signal)), this.#service?.run(signal)]);
    this.#stopFollowing?.();
    await this.#events.idle();
  }

  get #writers(): readonly Pick<Writer<unknown>, 'run' | 'termChanged' | 'refusal'>[] {
    return [this.#config, this.#addresses, this.#conditions, this.#resources, this.#cfg, this.#told];
  }

  get #currentAddresses(): readonly Address[] {
    return this.#service?.current ?? this.#parts.addresses;
  }

  /** What the former config owned has gone with it, though the new one may say the same: nothing would be released for it. */
  #useVersion(version: ConfigVersion): void {
    const isAnother = version.uid !== this.#version?.uid;
    this.#version = version;
    if (isAnother && this.#released !== undefined) this.#wantOwned(this.#released, version);
  }

  #wantOwned(released: Omit<DesiredCfg, 'config'>, config: ConfigVersion): void {
    this.#resources.want({ declared: released.rendered.plan.k8sResources, config });
    this.#cfg.want({ ...released, config });
  }

  /** Pods come, go, and report what they run. */
  #follow(): void {
    this.#stopFollowing ??= this.#parts.fleet()?.onChange(() => this.#cfg.touch());
  }

  #writer<T>(parts: Pick<WriterParts<T>, 'what' | 'ofTerm' | 'write' | 'pace'>): Writer<T> {
    const { term, clock, log } = this.#parts;
    return new Writer({ ...parts, term, clock, log });
  }

  #inventory<S extends z.ZodType>(document: string, schema: S, empty: z.output<S>): Inventory<S> {
    const { store, log } = this.#parts;
    return new Inventory({ store, document, schema, empty, log });
  }

  #addressWriter(): AddressWriter {
    const { kube, clock, log } = this.#parts;
    const inventory = this.#inventory('published-addresses', publishedAddresses, NOTHING_PUBLISHED);
    return new AddressWriter({ api: kube.api, inventory, clock, log });
  }

  #conditionWriter(): ConditionWriter {
    const { kube, clock, log } = this.#parts;
    const inventory = this.#inventory('published-conditions', publishedConditions, NO_CONDITIONS);
    return new ConditionWriter({ kube, inventory, clock, log });
  }

  #resourceWriter(): ResourceWriter {
    const { kube, log } = this.#parts;
    const inventory = this.#inventory('declared-resources', appliedResources, NOTHING_APPLIED);
    return new ResourceWriter({
      kube,
      inventory,
      problems: (all) => this.#events.problems(all),
      log,
    });
  }
}
