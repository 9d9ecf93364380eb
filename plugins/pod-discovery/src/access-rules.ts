import type { AccessRule } from '@haptic/kube';

/** In the installation's namespace. */
export function accessRules(): readonly AccessRule[] {
  return [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] }];
}
