import type { AccessRule } from '@haptic/kube';
import type { ControllerRules } from './controller-rules.ts';

/** One verb on one resource of one rule. */
export interface SingleRight {
  readonly scope: keyof ControllerRules;
  readonly rule: AccessRule;
  readonly resource: string;
  readonly verb: string;
}

export function singleRights(rules: ControllerRules): readonly SingleRight[] {
  return (['cluster', 'namespace'] as const).flatMap((scope) =>
    rules[scope].flatMap((rule) =>
      rule.resources.flatMap((resource) => rule.verbs.map((verb) => ({ scope, rule, resource, verb }))),
    ),
  );
}

/** The rules without some of what they grant. */
export function without(rules: ControllerRules, missing: readonly SingleRight[]): ControllerRules {
  const kept = (scope: keyof ControllerRules): readonly AccessRule[] =>
    rules[scope].flatMap((rule) =>
      rule.resources.flatMap((resource): AccessRule[] => {
        const verbs = rule.verbs.filter(
          (verb) =>
            !missing.some((one) => one.rule === rule && one.resource === resource && one.verb === verb),
        );
        return verbs.length === 0 ? [] : [{ ...rule, resources: [resource], verbs }];
      }),
    );
  return { cluster: kept('cluster'), namespace: kept('namespace') };
}

/**
 * Rights that can be missed in one run, since the lack of one does not keep anybody from asking for the others: watches follow lists
 * that are there, what libraries watch is listed at once, and what is published is written side by side.
 */
export function missedTogether(rights: readonly SingleRight[]): ReadonlyMap<string, readonly SingleRight[]> {
  return Map.groupBy(rights, ({ scope, resource, verb }) => {
    // Asked for only by who looks for pods, and the others need one that is there.
    if (resource === 'pods') return `${verb} pods`;
    if (verb === 'watch') return 'all watches';
    if (resource === 'leases')
      return verb === 'get' || verb === 'list' ? 'looks at the lease' : `${verb} leases`;
    if (resource === 'configmaps') return `${verb} configmaps`;
    // Which Ingresses are ours their classes say, so these are listed first.
    if (verb === 'list' && resource === 'ingressclasses') return 'list of classes';
    if (verb === 'list')
      return scope === 'cluster' ? 'lists of watched resources' : 'lists of the configuration';
    return `${verb} what is published${resource.endsWith('/status') ? ' in a status' : ''}`;
  });
}
