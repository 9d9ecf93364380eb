import type { ObjectRef } from '@haptic/core/contract';
import { createHash } from 'node:crypto';
import type { Resource } from '../resource.ts';

export const eventResource: Resource = {
  apiVersion: 'events.k8s.io/v1',
  resource: 'events',
  kind: 'Event',
  namespaced: true,
};

/** What happened to an object, as people see it with `kubectl describe`. */
export interface Occurrence {
  readonly regarding: ObjectRef;
  readonly type: 'Normal' | 'Warning';
  /** A word for machines: `ConfigRejected`. */
  readonly reason: string;
  /** What was done or not done: `Validate`. */
  readonly action: string;
  /** A sentence. */
  readonly note: string;
}

export interface Reporter {
  /** `haproxy-haptic.org/controller`. */
  readonly controller: string;
  /** Of this process alone. */
  readonly instance: string;
}

/** An occurrence and its repetitions. */
export interface Series {
  readonly occurrence: Occurrence;
  /** MicroTime of the first. */
  readonly eventTime: string;
  /** MicroTime of the last. */
  readonly lastTime: string;
  readonly count: number;
}

/** The API refuses longer ones; in bytes. */
const LONGEST_NOTE = 1024;
const ELLIPSIS = ' …';

export function seriesKey({ regarding, type, reason, action, note }: Occurrence): string {
  const { apiVersion, kind, namespace, name, uid = '' } = regarding;
  return JSON.stringify([apiVersion, kind, namespace, name, uid, type, reason, action, note]);
}

/** Events of cluster-scoped objects stand in `default`, as everybody's do. */
export function eventNamespace({ regarding }: Occurrence): string {
  return regarding.namespace === '' ? 'default' : regarding.namespace;
}

/** The same for all repetitions of one process: an Event's first time cannot be changed by another one. */
export function eventName(series: Series, reporter: Reporter): string {
  const identity = `${reporter.instance}${series.eventTime}${seriesKey(series.occurrence)}`;
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, 16);
  const name = series.occurrence.regarding.name.slice(0, 230).replace(/[^a-z0-9]+$/, '');
  return `${name}.${hash}`;
}

export function eventFields({ occurrence, eventTime, lastTime, count }: Series, reporter: Reporter): object {
  const { regarding, type, reason, action, note } = occurrence;
  const { apiVersion, kind, name, namespace, uid } = regarding;
  const scope = namespace === '' ? {} : { namespace };
  return {
    eventTime,
    reportingController: reporter.controller,
    reportingInstance: reporter.instance.slice(0, 128),
    type,
    reason,
    action,
    note: shorten(note),
    regarding: { apiVersion, kind, name, ...scope, ...(uid === undefined ? {} : { uid }) },
    ...(count > 1 ? { series: { count, lastObservedTime: lastTime } } : {}),
  };
}

function shorten(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= LONGEST_NOTE) return note;
  const room = LONGEST_NOTE - Buffer.byteLength(ELLIPSIS);
  // A character that is cut in its middle decodes to U+FFFD.
  return (
    bytes
      .subarray(0, room)
      .toString()
      .replace(/\uFFFD+$/, '') + ELLIPSIS
  );
}
