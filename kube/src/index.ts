export { KubeApi, type ApiAnswer, type ApiRequest, type Method } from './api.ts';
export { ApiError, isApiError } from './api-error.ts';
export { loadKubeConfig, type KubeConfigOptions } from './config.ts';
export { Discovery, type DiscoveryOptions } from './discovery.ts';
export type { Occurrence, Reporter } from './events/event-object.ts';
export { EventRecorder, type EventRecorderOptions } from './events/event-recorder.ts';
export { Elector, type ElectorOptions } from './lease/elector.ts';
export type { LeaseTerm } from './lease/term.ts';
export { defaultLeaseTiming, type LeaseTiming } from './lease/timing.ts';
export {
  applyObject,
  createObject,
  deleteObject,
  getObject,
  replaceObject,
  type ApplyOptions,
  type CallOptions,
  type NewObject,
  type ObjectKey,
  type Preconditions,
} from './objects.ts';
export type { Changes, ObjectName } from './reflector/known-objects.ts';
export {
  defaultTiming,
  Reflector,
  type ReflectorEvent,
  type ReflectorHandler,
  type ReflectorOptions,
  type ReflectorTiming,
} from './reflector/reflector.ts';
export { collectionPath, objectPath, type Resource } from './resource.ts';
