import type { MergedConfig, WatchContent } from './config.ts';
import type { ContentReader } from './contents.ts';
import type { Outcome, Pod } from './deploy-plan.ts';
import type { JsonObject, KubeObject } from './object.ts';
import type { Meter } from './observability.ts';
import type { FleetFacts } from './render-input.ts';
import type { Digest } from './render-plan.ts';
import type { TrafficProbe } from './traffic-probe.ts';
import type { StoreView } from './view.ts';

/** A named service: one plugin provides it, others use it, nobody imports anybody. */
export interface ServiceKey<T> {
  readonly name: string;
  /** Phantom: carries the type only. */
  readonly _type?: T;
}

export function serviceKey<T>(name: string): ServiceKey<T> {
  return Object.freeze({ name });
}

/**
 * Provided by the plugin that exports metrics: what every plugin and the host measure goes there from then on. Put it first in
 * the order, so that it misses nothing.
 */
export const METER: ServiceKey<Meter> = serviceKey('meter');

/** Receives the objects of one watch from a resource source. All objects arrive unfrozen and are frozen here. */
export interface StoreSink {
  /** The complete list: what is absent is deleted. Marks the watch as synced. */
  replace(watch: string, objects: readonly KubeObject[]): void;
  /** One coherent batch of changes. */
  apply(
    watch: string,
    changes: {
      readonly upserts: readonly KubeObject[];
      readonly deletes: readonly { namespace: string; name: string }[];
    },
  ): void;
  /** The source cannot serve this (optional) watch. */
  notServed(watch: string): void;
}

/** Brings watched resources into the store. Exactly one plugin provides it. */
export interface ResourceSource {
  /**
   * Starts watching; resolves when every watch has been filled once, or is known not to be served. Called again, with another
   * sink, when a configuration comes with other watches: both sinks are kept filled until their signals abort, so that one
   * configuration serves while the next one waits for its objects. Ends at `signal`.
   */
  watch(watches: Readonly<Record<string, WatchContent>>, sink: StoreSink, signal: AbortSignal): Promise<void>;
}
export const RESOURCE_SOURCE: ServiceKey<ResourceSource> = serviceKey('resource-source');

/** One thing that is wrong with an object, by its path. */
export interface ObjectProblem {
  readonly path: readonly (string | number)[];
  /** Says what was expected. */
  readonly message: string;
}

/** What the Kubernetes API itself would refuse about objects of one kind, whatever a configuration makes of them. */
export interface ObjectCheck {
  readonly apiVersion: string;
  readonly kind: string;
  /** Pure. The object has an apiVersion, a kind and a name; nothing else of it is sure. */
  problems(object: KubeObject): readonly ObjectProblem[];
}

/**
 * Provided by a resource source that no API server stands before: whoever reads a kind adds, during `setup`, what makes an object
 * of it acceptable. An object with problems is not taken, and what was there before stays.
 */
export interface ObjectChecks {
  add(check: ObjectCheck): void;
}
export const OBJECT_CHECKS: ServiceKey<ObjectChecks> = serviceKey('object-checks');

/**
 * Keeps small documents from one run to the next. Each is written as a whole and is there as a whole, or as it was before, whatever
 * happens in between. Never given Secret data.
 */
export interface StateStore {
  /** Undefined where it was never written. @throws Retry when the store can not be reached. */
  read(name: string): Promise<string | undefined>;
  /** Resolves when it is durable. @throws Retry when the store can not be reached. */
  write(name: string, document: string, signal?: AbortSignal): Promise<void>;
}
/** Without a provider what would be kept lives as long as the process. */
export const STATE_STORE: ServiceKey<StateStore> = serviceKey('state-store');

/** A private folder that stays from run to run, for plugins that keep files; provided by whoever was given one. */
export const KEPT_FOLDER: ServiceKey<string> = serviceKey('kept-folder');

/** What of a kind protects somebody, besides the annotations that are declared `security`. */
export interface SecurityFields {
  readonly apiVersion: string;
  readonly kind: string;
  /** Pure. The parts of an object whose edit must never be answered by the revision before it. */
  fields(object: KubeObject): unknown;
}

/** Provided by the core: whoever reads a kind adds, during `setup`, which of its fields those are. */
export interface SecurityFieldsRegistry {
  add(fields: SecurityFields): void;
}
export const SECURITY_FIELDS: ServiceKey<SecurityFieldsRegistry> = serviceKey('security-fields');

/** What is kept of a kind's objects: the rest never enters memory. */
export interface KeepRule {
  /** Equal keys keep equal objects: with another one everything is looked at again. */
  readonly key: string;
  keep(object: KubeObject): boolean;
}

/** What the reader of a kind wants of its objects, before anything is rendered. */
export interface ObjectInterest {
  readonly apiVersion: string;
  /** Plural, as in a watch: `ingresses`. */
  readonly resources: string;
  /** Tells own objects from foreign ones by the objects of another kind, e.g. the classes; pure. */
  readonly own?: {
    readonly by: { readonly apiVersion: string; readonly resources: string };
    rule(deciding: readonly KubeObject[]): KeepRule;
  };
  /** Secrets that an object names: they are kept whatever their type is. Pure. */
  secrets?(object: KubeObject): readonly { readonly namespace: string; readonly name: string }[];
}

/** Provided by a resource source before which there is more than anybody here wants; readers of kinds add during `setup`. */
export interface ObjectInterests {
  add(interest: ObjectInterest): void;
  /** False for an object that somebody else reads: it would not be kept. */
  isWanted(
    resource: { readonly group: string; readonly version: string; readonly resource: string },
    object: KubeObject,
  ): boolean;
}
export const OBJECT_INTERESTS: ServiceKey<ObjectInterests> = serviceKey('object-interests');

/** Provided by the core: a config source says that its set may have changed. */
export interface ConfigChanges {
  changed(): void;
}
export const CONFIG_CHANGES: ServiceKey<ConfigChanges> = serviceKey('config-changes');

/** A HAProxy pod that is there, whether or not its agent answers. */
export interface FoundPod {
  /** Of this very pod: one that takes its name later has another. */
  readonly uid: string;
  readonly name: string;
  /** A literal IP address. */
  readonly address: string;
  /** It is being taken down, and serves until it is gone. */
  readonly stops: boolean;
}

/** Knows which HAProxy pods there are. Provided where nobody lists them by hand. */
export interface PodDiscovery {
  /** Told of all pods: when it is first known which there are, and whenever that changes. Returns how to stop. */
  follow(listener: (pods: readonly FoundPod[]) => void): () => void;
}
export const POD_DISCOVERY: ServiceKey<PodDiscovery> = serviceKey('pod-discovery');

/** The HAProxy pods and what they run. Provided by the transport to the agents. */
export interface Fleet {
  pods(): readonly Pod[];
  /** `haproxyVersion` is undefined until a pod answered; the core then asks the judge. */
  facts(): Omit<FleetFacts, 'haproxyVersion'> & { readonly haproxyVersion?: string };
  /** The highest epoch that any pod has seen which answers soon; 0 where none does. */
  highestEpoch(signal: AbortSignal): Promise<number>;
  /** Called when a pod comes, goes or reports another state: the core plans and deploys again. Returns how to stop. */
  onChange(listener: () => void): () => void;
  /**
   * Every pod that carries this plan without its own HAProxy having loaded it goes back to its last known good. Pods whose own
   * binary loaded it are left alone: that is stronger evidence than a judge's. An apply of it that is under way ends first, one
   * that still waits for its turn is not sent. A pod that does not answer is reverted when it comes back, if it still carries the
   * plan and nothing newer was deployed to it. Resolves with one outcome for each pod that carried the plan, and for each that did
   * not answer.
   */
  revert(plan: Digest, signal: AbortSignal): Promise<readonly Outcome[]>;
}
export const FLEET: ServiceKey<Fleet> = serviceKey('fleet');

/** Provided by the `haproxy` judge: the binary that judges. */
export interface JudgeBinary {
  version(): Promise<string>;
  /** Starts it on rendered files, for tests that ask it; absent where the judge cannot. */
  readonly probe?: TrafficProbe;
}
export const JUDGE_BINARY: ServiceKey<JudgeBinary> = serviceKey('judge-binary');

/** From winning the lease to losing it. Without a provider the process is always leader. */
export interface Term {
  readonly leader: boolean;
  readonly epoch: number;
  /** Aborted when the term ends. */
  readonly signal: AbortSignal;
}

/** Who leads. */
export interface Terms {
  current(): Term;
  /** Called when a term has begun or ended. Returns how to stop. */
  onChange(listener: () => void): () => void;
  /**
   * Somebody has seen this epoch although the term is ours: the epoch rises above it.
   * @throws Cancelled when the term ends first, or the signal aborts.
   */
  raise(seen: number, signal: AbortSignal): Promise<number>;
}
export const TERM: ServiceKey<Terms> = serviceKey('term');

export interface MemberDoc {
  readonly name: string;
  readonly doc: string;
}

/** What a template global is built from. Pure: equal inputs give an equal result. */
export interface GlobalInput {
  readonly view: StoreView;
  readonly config: MergedConfig;
  readonly settings: JsonObject;
  readonly fleet: FleetFacts;
  readonly contents: ContentReader;
}

/**
 * A name that templates see. `build` runs at most once a render, when a template first reads the name; providers keep
 * unchanged parts identical between renders (memo depends on it).
 */
export interface TemplateGlobal {
  readonly name: string;
  readonly doc: string;
  /** Undeclared members are load errors. */
  readonly members: readonly MemberDoc[];
  build(input: GlobalInput): object;
}

/** A function that templates may call by name. */
export interface TemplateHelper {
  readonly name: string;
  /** `name(a, b?) → type` and one sentence; listed in docs/templates.md for the built-in ones. */
  readonly signature: string;
  readonly doc: string;
  readonly minArgs: number;
  readonly maxArgs: number;
  call(...args: readonly unknown[]): unknown;
}

/** Provided by the core: plugins add names for templates during `setup`. */
export interface TemplateNames {
  global(global: TemplateGlobal): void;
  helper(helper: TemplateHelper): void;
}
export const TEMPLATE_NAMES: ServiceKey<TemplateNames> = serviceKey('template-names');
