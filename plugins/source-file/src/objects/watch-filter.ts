import {
  parseFieldSelector,
  parseLabelSelector,
  type KubeObject,
  type WatchContent,
} from '@haptic/core/contract';
import { pluralOf } from './kinds.ts';

export type WatchFilter = (object: KubeObject) => boolean;

/** Whether an object is of a watch's kind, wanted or not. */
export function isOfKind(
  { apiVersions, resources }: WatchContent,
  { apiVersion, kind }: KubeObject,
): boolean {
  return apiVersions.includes(apiVersion) && pluralOf(kind) === resources;
}

/** Whether an object is one of a watch's: what an API server would answer to its list request. */
export function watchFilter(watch: WatchContent): WatchFilter {
  const labels = parseLabelSelector(watch.labelSelector ?? '');
  const fields = parseFieldSelector(watch.fieldSelector ?? '');
  const { namespaces } = watch;
  return (object) =>
    isOfKind(watch, object) &&
    (namespaces.length === 0 || namespaces.includes(object.metadata.namespace ?? '')) &&
    labels(object.metadata.labels) &&
    fields(object);
}
