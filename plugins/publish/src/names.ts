import { createHash } from 'node:crypto';
import type { ConfigVersion, ObjectRef } from '@haptic/core/contract';
import { configResource, kindGroup } from '@haptic/kube';

/** Says whose an object is. */
export const MANAGED_BY = `${kindGroup.group}/managed-by`;

const LONGEST_LABEL = 63;

/** The installation as the value of a label: the same for as long as the config has its name. */
export function installationLabel({ namespace, name }: Pick<ConfigVersion, 'namespace' | 'name'>): string {
  const whole = `${namespace}.${name}`;
  if (whole.length <= LONGEST_LABEL) return whole;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 16);
  return `${whole.slice(0, LONGEST_LABEL - hash.length - 1)}-${hash}`;
}

const ownKind = { apiVersion: configResource.apiVersion, kind: configResource.kind };

export function configRef({ namespace, name, uid }: ConfigVersion): ObjectRef {
  return { ...ownKind, namespace, name, uid };
}

/** For objects of the config's own namespace: they go when it goes. */
export function ownerReference({ name, uid }: ConfigVersion): object {
  return { ...ownKind, name, uid };
}
