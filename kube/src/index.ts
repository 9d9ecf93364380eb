export { KubeApi, type ApiRequest } from './api.ts';
export { ApiError, isApiError } from './api-error.ts';
export { loadKubeConfig, type KubeConfigOptions } from './config.ts';
export {
  Reflector,
  type ReflectorEvent,
  type ReflectorHandler,
  type ReflectorOptions,
  type ReflectorTiming,
} from './reflector/reflector.ts';
export type { Changes, ObjectName } from './reflector/known-objects.ts';
export { collectionPath, objectPath, type Resource } from './resource.ts';
