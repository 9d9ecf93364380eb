import type { KubeObject } from '@haptic/core/contract';

/**
 * The version of no object: etcd counts from 1, and what is written first gets 2. Server-side apply compares a version only with that
 * of an object which exists, so with this one it creates, and does nothing else.
 */
const OF_NO_OBJECT = '1';

/**
 * Metadata with which server-side apply answers 409 unless it finds what was looked at: the same object as it was, or none. A request
 * that was late on its way changes nothing then, nor does one over an object that somebody has made meanwhile.
 */
export function onlyOver(live: KubeObject | undefined): {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
} {
  const { uid, resourceVersion } = live?.metadata ?? { resourceVersion: OF_NO_OBJECT };
  return { uid, resourceVersion };
}
