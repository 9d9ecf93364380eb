import type {
  KubeObject,
  ObjectRef,
  QuarantinedObject,
  ServedInstead,
  StoreView,
} from '../contract/index.ts';
import { keptRevision, type Revisions } from './identity.ts';

/** One object in quarantine. */
export interface Entry {
  readonly watch: string;
  readonly object: ObjectRef;
  /** Of the content that was refused. */
  readonly revision: string;
  readonly reason: string;
  readonly instead: ServedInstead;
  /** The last revision of this object that every judge passed, where there is one to serve. */
  readonly accepted?: KubeObject;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly refusedAt: number;
  /** What it was judged with; see `Basis`. */
  readonly basis: string;
  /** Others were named with it, or nobody was: it is tried by itself. */
  readonly doubtful: boolean;
}

/** What is served instead, one step further down; undefined where there is none. */
export function nextInstead(instead: ServedInstead): ServedInstead | undefined {
  if (instead === 'accepted') return 'unavailable';
  return instead === 'unavailable' ? 'nothing' : undefined;
}

/** Whether its object is there no more, where the view would show it. */
export function isGone({ watch, object }: Entry, view: StoreView): boolean {
  if (!view.watches.includes(watch) || !view.watch(watch).served) return false;
  return view.watch(watch).get(object.namespace, object.name) === undefined;
}

/** Whether that is news to others: it was not refused once more, for the same. */
export function saysElse(before: Entry, now: Entry): boolean {
  const sameServed =
    before.instead === now.instead &&
    before.accepted?.metadata.resourceVersion === now.accepted?.metadata.resourceVersion;
  return !sameServed || before.revision !== now.revision || before.reason !== now.reason;
}

/** As others are told of it. */
export function report(
  { watch, object, revision, reason, instead, accepted, since }: Entry,
  revisions: Revisions,
  lostAtRestart: boolean,
): QuarantinedObject {
  const acceptedRevision =
    accepted && (accepted.metadata.resourceVersion ?? keptRevision(object, revisions.of(accepted)));
  return Object.freeze({
    watch,
    object,
    revision: keptRevision(object, revision),
    reason,
    instead,
    ...(acceptedRevision !== undefined && { acceptedRevision }),
    since,
    ...(lostAtRestart && { lostAtRestart }),
  });
}
