import { kindGroup, type AccessRule } from '@haptic/kube';

/** What this plugin needs in the installation's namespace, for the config of this name and what is published under it. */
export function namespaceRules(config: string): readonly AccessRule[] {
  const resourceNames = [config];
  return [
    { apiGroups: [kindGroup.group], resources: ['haproxytemplateconfigs'], resourceNames, verbs: ['get'] },
    {
      apiGroups: [kindGroup.group],
      resources: ['haproxytemplateconfigs/status'],
      resourceNames,
      verbs: ['patch'],
    },
    // Server-side apply creates with `create` and changes with `patch`.
    { apiGroups: [kindGroup.group], resources: ['haproxycfgs'], verbs: ['create'] },
    { apiGroups: [kindGroup.group], resources: ['haproxycfgs'], resourceNames, verbs: ['get', 'patch'] },
    { apiGroups: [kindGroup.group], resources: ['haproxycfgs/status'], resourceNames, verbs: ['patch'] },
  ];
}

/** Where the watched objects are: all namespaces, or those that the watches name. */
export const watchedRules: readonly AccessRule[] = [
  // Events are applied, since an Event's repetitions change it.
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

/** There as well, where addresses are published in statuses of Ingresses. */
export const addressRules: readonly AccessRule[] = [
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses'], verbs: ['get'] },
  { apiGroups: ['networking.k8s.io'], resources: ['ingresses/status'], verbs: ['patch'] },
];

/** For kinds whose conditions templates declare. */
export function conditionRules(apiGroup: string, resource: string): readonly AccessRule[] {
  return [
    { apiGroups: [apiGroup], resources: [resource], verbs: ['get'] },
    { apiGroups: [apiGroup], resources: [`${resource}/status`], verbs: ['patch'] },
  ];
}

/** In the namespace of the Service whose addresses are taken. */
export function serviceRules(name: string): readonly AccessRule[] {
  return [{ apiGroups: [''], resources: ['services'], resourceNames: [name], verbs: ['list', 'watch'] }];
}

/** For kinds that templates declare as resources, in the namespaces that they may be in. */
export function declaredRules(apiGroup: string, resource: string): readonly AccessRule[] {
  return [{ apiGroups: [apiGroup], resources: [resource], verbs: ['get', 'create', 'patch', 'delete'] }];
}
