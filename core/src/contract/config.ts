import type { Json, JsonObject, KubeObject } from './object.ts';
import type { Server } from './render-plan.ts';

/** A place in a file of YAML, both from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One author of configuration: a library or the config itself. `spec` is unparsed. */
export interface ConfigSource {
  readonly kind: 'library' | 'config';
  readonly name: string;
  readonly spec: unknown;
  /**
   * Where the key or the value of a path of `spec` stands in its file; the nearest parent that exists when the path itself does
   * not. The value of a block scalar stands where its first line of text does, so lines of a template count from there.
   */
  readonly locate?: (path: readonly (string | number)[], of?: 'key' | 'value') => Position | undefined;
  /** The line of a position with a caret below it, to end an error message with. */
  readonly excerpt?: (position: Position) => string;
}

/** Which version of which object the config is, for sources that keep it in one. */
export interface ConfigVersion {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Rises with every change of its content. */
  readonly generation: number;
}

/** A coherent set, in merge order: libraries as `libraryRefs` lists them, the config last. */
export interface ConfigSet {
  readonly sources: readonly ConfigSource[];
  readonly version?: ConfigVersion;
}

/** Whose text a named content is, and where its text begins. */
export interface Origin {
  readonly kind: 'library' | 'config';
  readonly source: string;
  readonly position?: Position;
}

/** Named content whose text is a template. */
export interface TemplateContent {
  readonly template: string;
  /** Optional watches, or `watch.field.path`, without which the content is dropped. */
  readonly requires: readonly string[];
  readonly origin: Origin;
}

/** A file beside HAProxy's configuration, named by `path('file', name)`. */
export interface FileContent extends TemplateContent {
  /** False: a change of this file alone does not reload HAProxy. */
  readonly reloadOnChange: boolean;
}

/** How a key is compared: that of HAProxy's converters `map_str`, `map_beg`, … */
export type MapMatch = 'str' | 'beg' | 'end' | 'sub' | 'dom' | 'dir' | 'reg' | 'ip';
/** Entries of `host` name those of `path`, these those of `list`, these those of `leaf`, which name nothing further. */
export type MapLayer = 'leaf' | 'list' | 'path' | 'host';

/** A declared map; templates add its entries. */
export interface MapContent {
  readonly match: MapMatch;
  readonly value: 'str' | 'int' | 'ip';
  /** Decides the order of runtime changes: leaves are added first, hosts last, so that no entry leads to one that is not there yet. */
  readonly layer: MapLayer;
  /** Published, shown and diffed as digests only. */
  readonly secret: boolean;
  readonly requires: readonly string[];
  readonly origin: Origin;
}

/** One watched resource of the merged configuration. Durations in milliseconds. */
export interface WatchContent {
  /** Acceptable versions, first served wins. */
  readonly apiVersions: readonly string[];
  /** Plural resource name, e.g. `ingresses`. */
  readonly resources: string;
  readonly optional: boolean;
  /** Dotted paths, e.g. `metadata.labels.kubernetes\.io/service-name`. */
  readonly indexBy: readonly string[];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly namespaces: readonly string[];
  readonly ignoreFields: readonly string[];
  readonly admission: boolean;
  readonly debounce: number;
}

/** `controller` of the config. */
export interface ControllerSettings {
  readonly logging: { readonly level: string };
  /** Trailing debounce after the leading edge, milliseconds. */
  readonly debounce: number;
  /** Milliseconds. */
  readonly renderTimeout: number;
  /** Names of libraries' tests that are not run. Reported, never silent. */
  readonly skipTests: readonly string[];
  readonly budgets: JsonObject;
}

/** A named content of the config that replaced a library's. Reported, never silent. */
export interface Override {
  readonly kind: string;
  readonly name: string;
  /** The library that was overridden. */
  readonly of: string;
  /** The source that did. */
  readonly by: string;
}

/** Objects by watch name, as a validation test supplies them. */
export type Fixtures = Readonly<Record<string, readonly KubeObject[]>>;

/** One claim of a validation test about what it rendered. Targets and types are known when the configuration loads. */
export type Assertion = { readonly description?: string } & (
  | { readonly type: 'contains' | 'not_contains'; readonly target: string; readonly pattern: string }
  | { readonly type: 'equals'; readonly target: string; readonly expected: string }
  | {
      readonly type: 'match_count';
      readonly target: string;
      readonly pattern: string;
      readonly expected: number;
    }
  | { readonly type: 'match_order'; readonly target: string; readonly patterns: readonly string[] }
  | {
      readonly type: 'jsonpath';
      readonly target: string;
      readonly path: string;
      /** What is there; undefined: anything. */
      readonly expected?: Json;
    }
  | { readonly type: 'haproxy_valid' | 'deterministic' }
  | { readonly type: 'routes'; readonly request: RouteRequest; readonly expect: RouteExpectation }
  | { readonly type: 'rendering_error'; readonly pattern?: string }
);

/** A request that a HAProxy on the rendered files answers. */
export interface RouteRequest {
  /** The Host header; none when absent. */
  readonly host?: string;
  /** As sent, with its query. */
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Over TLS; the server name is the host's unless it says another one. */
  readonly tls?: true | { readonly sni?: string };
  /** The address of `{% bind %}` that it is sent to; without it the one that plain or TLS requests usually come to. */
  readonly bind?: string;
}

/** What became of a request; everything that is given must hold. */
export interface RouteExpectation {
  readonly backend?: string;
  /** The Location header of a redirect. */
  readonly redirect?: string;
  readonly status?: number;
}

/** A server as `current.servers` of a test has it. */
export type CurrentServer = Pick<Server, 'name' | 'address' | 'port' | 'weight' | 'state'>;

/** A text that templates fetch over HTTP. */
export interface HttpResource {
  readonly url: string;
  readonly content: string;
}

/** One of `validationTests`: what is rendered from, and what must hold of it. */
export interface ValidationTest {
  readonly description?: string;
  readonly fixtures: Fixtures;
  readonly httpResources: readonly HttpResource[];
  /** Laid over the configuration's. */
  readonly settings: JsonObject;
  readonly requires: readonly string[];
  /** What templates see as `current.servers`: servers by name of the backend. */
  readonly currentServers?: Readonly<Record<string, readonly CurrentServer[]>>;
  /** What templates see as `current.files`: digests by path. */
  readonly currentFiles?: Readonly<Record<string, string>>;
  /** The test is skipped where the judging HAProxy is older: `3.2` or `3.2.1`. */
  readonly minHAProxyVersion?: string;
  readonly assertions: readonly Assertion[];
  readonly origin: Origin;
}

/** Name of the test without assertions whose fixtures and settings every test shares. */
export const GLOBAL_TEST = '_global';

/** A declared annotation of watched objects. */
export interface AnnotationContent {
  readonly type: string;
  readonly enum?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly default?: Json;
  /** Kinds that may carry it, e.g. `ingress`. */
  readonly appliesTo: readonly string[];
  /** True: an invalid value fails closed. */
  readonly security: boolean;
  readonly doc: string;
  readonly requires: readonly string[];
  readonly origin: Origin;
}

/** The one configuration that a set merges to; defaults filled in, deep-frozen. */
export interface MergedConfig {
  readonly haproxyConfig: TemplateContent;
  readonly templateSnippets: Readonly<Record<string, TemplateContent>>;
  readonly maps: Readonly<Record<string, MapContent>>;
  readonly files: Readonly<Record<string, FileContent>>;
  readonly sslCertificates: Readonly<Record<string, TemplateContent>>;
  readonly k8sResources: Readonly<Record<string, TemplateContent>>;
  readonly annotations: Readonly<Record<string, AnnotationContent>>;
  readonly validationTests: Readonly<Record<string, ValidationTest>>;
  readonly watchedResources: Readonly<Record<string, WatchContent>>;
  readonly settings: JsonObject;
  readonly controller: ControllerSettings;
  /** Keys that plugins own in the config kind (`definePlugin({config})`), parsed by their schemas. */
  readonly owned: Readonly<Record<string, unknown>>;
  readonly overrides: readonly Override[];
  /** SHA-256 over the canonical content: equal configurations have equal digests whatever the order of keys. */
  readonly digest: string;
}
