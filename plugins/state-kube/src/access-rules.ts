import type { AccessRule } from '@haptic/kube';

/** In the installation's namespace. A name cannot restrict creation. */
export function accessRules(name: string): readonly AccessRule[] {
  return [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
    { apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get', 'patch'] },
  ];
}
