import type { KubeObject } from '@haptic/core/contract';
import { z } from 'zod';
import type { NewObject } from '../objects.ts';
import type { Resource } from '../resource.ts';

export const leaseResource: Resource = {
  apiVersion: 'coordination.k8s.io/v1',
  resource: 'leases',
  kind: 'Lease',
  namespaced: true,
};

const EPOCH = 'haproxy-haptic.org/epoch';
/** The epoch that was given up. A holder that somebody else blanked has not given up: it may still act. */
const RELEASED = 'haproxy-haptic.org/released-epoch';

/** When its holder ends its term without a renewal, milliseconds: earlier than its promise, by how much is its own business. */
const DEADLINE = 'haproxy-haptic.org/renew-deadline-ms';

const LeaseFields = z.looseObject({
  metadata: z.looseObject({
    uid: z.string(),
    resourceVersion: z.string(),
    annotations: z.record(z.string(), z.string()).nullish(),
  }),
  spec: z
    .looseObject({
      holderIdentity: z.string().nullish(),
      leaseDurationSeconds: z.number().nullish(),
      renewTime: z.string().nullish(),
      leaseTransitions: z.number().nullish(),
    })
    .nullish(),
});

/** What a Lease says. */
export interface LeaseRecord {
  readonly holder: string;
  readonly epoch: number;
  /** Its holder handed it over. */
  readonly released: boolean;
  /** Milliseconds. */
  readonly duration: number;
  /** After this its holder does not lead any more, milliseconds; the whole duration where it does not say. */
  readonly deadline: number;
  readonly renewTime: string;
  readonly transitions: number;
  /** Differs after every write and after every re-creation. */
  readonly version: string;
  readonly object: KubeObject;
}

/** Reads any Lease: one that was written by hand has no epoch and counts as 0. */
export function readLease(object: KubeObject): LeaseRecord {
  const { metadata, spec } = LeaseFields.parse(object);
  const annotations = metadata.annotations ?? {};
  const epoch = parseWhole(annotations[EPOCH]);
  const duration = (spec?.leaseDurationSeconds ?? 0) * 1000;
  const holder = spec?.holderIdentity ?? '';
  return {
    holder,
    epoch,
    released: holder === '' && epoch > 0 && parseWhole(annotations[RELEASED]) === epoch,
    duration,
    deadline: parseWhole(annotations[DEADLINE]) || duration,
    renewTime: spec?.renewTime ?? '',
    transitions: spec?.leaseTransitions ?? 0,
    version: `${metadata.uid}/${metadata.resourceVersion}`,
    object,
  };
}

function parseWhole(text: string | undefined): number {
  const number = Number(text ?? '0');
  return Number.isSafeInteger(number) && number > 0 ? number : 0;
}

export interface LeaseClaim {
  /** Empty for nobody. */
  readonly holder: string;
  /** Anybody may take it at once. */
  readonly released?: boolean;
  readonly epoch: number;
  /** Milliseconds. */
  readonly duration: number;
  /** Milliseconds. */
  readonly deadline: number;
  readonly renewTime: string;
}

/** The Lease to write: the given record's other fields stay, and with them the version that the write depends on. */
export function writeLease(
  claim: LeaseClaim,
  name: { readonly namespace: string; readonly name: string },
  before?: LeaseRecord,
): NewObject {
  const { holder, epoch, renewTime } = claim;
  const object = LeaseFields.partial().parse(before?.object ?? {});
  const taken = before === undefined || before.epoch !== epoch;
  const released = claim.released === true ? { [RELEASED]: String(epoch) } : {};
  const { [RELEASED]: _released, ...annotations } = object.metadata?.annotations ?? {};
  return {
    ...object,
    apiVersion: leaseResource.apiVersion,
    kind: leaseResource.kind,
    metadata: {
      ...object.metadata,
      ...name,
      annotations: {
        ...annotations,
        [EPOCH]: String(epoch),
        [DEADLINE]: String(Math.ceil(claim.deadline)),
        ...released,
      },
    },
    spec: {
      ...object.spec,
      holderIdentity: holder,
      leaseDurationSeconds: Math.ceil(claim.duration / 1000),
      renewTime,
      leaseTransitions: (before?.transitions ?? 0) + (taken ? 1 : 0),
      ...(taken ? { acquireTime: renewTime } : {}),
    },
  };
}
