/**
 * The only door to a Kubernetes API; no other package imports a client of one.
 *
 * - `loadKubeConfig` → `KubeApi`: requests with raw JSON in and out, failures told apart as ApiError, Retry and Cancelled;
 *   `getObject`, `createObject`, `replaceObject`, `applyObject` and `deleteObject` on top.
 * - `Reflector`: keeps a handler told of all objects of one kind, over every failure. `Discovery`: which kinds are served.
 * - `Elector`: takes a Lease and keeps it, with an epoch that fences. `EventRecorder`: writes Events beside the work.
 *
 * Everything that runs does so in `run(signal)` or `follow(…, signal)`, which ends when the signal aborts and rejects for
 * nothing that a server or a network does.
 */
export { KubeApi, type ApiAnswer, type ApiRequest, type Method } from './api.ts';
export type { AccessRule } from './access-rule.ts';
export { ApiError, apiErrorOf, isApiError } from './api-error.ts';
export { Backoff, type BackoffOptions } from './backoff.ts';
export { refusalOf, refusalProblem } from './refusal.ts';
export { loadKubeConfig, type KubeConfigOptions } from './config.ts';
export {
  customResourceDefinition,
  type KindDefinition,
  type KindGroup,
  type PrinterColumn,
} from './crd/definition.ts';
export type { CelRule, Structural } from './crd/structural-schema.ts';
export { CONFIG_NAME, KUBE, type KubeConnection } from './connection.ts';
export { Discovery, type DiscoveryOptions } from './discovery.ts';
export { countDropped } from './events/dropped-events.ts';
export type { Occurrence, Reporter } from './events/event-object.ts';
export { EventRecorder, type EventRecorderOptions } from './events/event-recorder.ts';
export { Elector, type ElectorOptions } from './lease/elector.ts';
export type { LeaseTerm } from './lease/term.ts';
export { leaseResource } from './lease/lease-record.ts';
export { defaultLeaseTiming, type LeaseTiming } from './lease/timing.ts';
export {
  applyObject,
  createObject,
  deleteObject,
  getObject,
  mergeObject,
  replaceObject,
  type ApplyOptions,
  type CallOptions,
  type MergeOptions,
  type NewObject,
  type ObjectKey,
  type Preconditions,
} from './objects.ts';
export {
  configResource,
  FIELD_MANAGER,
  haproxyCfgResource,
  kindGroup,
  libraryResource,
} from './own-names.ts';
export type { Changes, ObjectName } from './reflector/known-objects.ts';
export {
  Reflector,
  type ReflectorEvent,
  type ReflectorHandler,
  type ReflectorOptions,
  type ReflectorTiming,
} from './reflector/reflector.ts';
export { countRestarts } from './reflector/restarts.ts';
export { collectionPath, objectPath, type Resource } from './resource.ts';
