import type { KubeObject, ObjectRef } from '@haptic/core/contract';
import {
  objectRef,
  parseHost,
  quoted,
  type HostPattern,
  type Listener,
  type PathPattern,
  type Route,
  type RouteWarning,
} from '@haptic/routing';
import type { Destinations, Resolved } from './destination.ts';
import type { IngressBackend, IngressPath, IngressSpec } from './ingress-object.ts';

export interface Translation {
  readonly routes: readonly Route[];
  readonly warnings: readonly RouteWarning[];
}

/** A route's own part: the rest is the same for all routes of the Ingress. */
interface Rule {
  readonly rule: number;
  readonly index: number;
  readonly host: HostPattern;
  readonly path: PathPattern;
  readonly backend: IngressBackend;
}

/** The routes of one Ingress, on every listener that serves Ingresses. */
export function translate(
  object: KubeObject,
  spec: IngressSpec,
  listeners: readonly Listener[],
  destinations: Pick<Destinations, 'resolve'>,
): Translation {
  const ref = objectRef(object);
  const age = ageOf(object);
  const warnings: RouteWarning[] = [];
  const rules = [...rulesOf(spec, ref, warnings), ...defaultRules(spec)];
  const routes = rules.flatMap(({ rule, index, host, path, backend }) => {
    const resolved = destinations.resolve(backend);
    if (resolved.warning !== undefined) warnings.push(warningOf(ref, rule, resolved.warning));
    const own = { origin: Object.freeze({ object: ref, rule, index }), host, path };
    const targets = [{ to: resolved.to, weight: 1 }];
    return listeners.map((listener) =>
      Object.freeze({ ...own, listener, conditions: [], targets, ...(age === undefined ? {} : { age }) }),
    );
  });
  return { routes, warnings };
}

function rulesOf(spec: IngressSpec, object: ObjectRef, warnings: RouteWarning[]): readonly Rule[] {
  return (spec.rules ?? []).flatMap(({ host, http }, rule) =>
    (http?.paths ?? []).flatMap((path, index) => {
      const pattern = pathPattern(path);
      if (pattern !== undefined) {
        return [{ rule, index, host: hostOf(host), path: pattern, backend: path.backend }];
      }
      const message = `path type ${quoted(path.pathType ?? '')} is none of Exact, Prefix, ImplementationSpecific`;
      warnings.push(warningOf(object, rule, { reason: 'RouteInvalid', message }));
      return [];
    }),
  );
}

/** Where the API server would refuse the host, the compiler reports the rule and leaves the others alone. */
function hostOf(host: string | null | undefined): HostPattern {
  return parseHost(host ?? undefined, 'one-label') ?? { kind: 'exact', name: host ?? '' };
}

function pathPattern({ path, pathType }: IngressPath): PathPattern | undefined {
  const value = path === undefined || path === null || path === '' ? '/' : path;
  switch (pathType ?? 'ImplementationSpecific') {
    case 'Exact':
      return { kind: 'exact', value };
    case 'Prefix':
    case 'ImplementationSpecific':
      return { kind: 'prefix', value };
    default:
      return undefined;
  }
}

/**
 * The default backend answers what no rule of the Ingress does: on the Ingress's own hosts, or on every host that nobody has
 * when it names none.
 */
function defaultRules({ defaultBackend, rules }: IngressSpec): readonly Rule[] {
  if (defaultBackend === undefined || defaultBackend === null) return [];
  const hosts = new Set((rules ?? []).map(({ host }) => host ?? ''));
  const covered = new Set(
    (rules ?? []).filter(({ http }) => http?.paths.some(isCatchAll)).map(({ host }) => host ?? ''),
  );
  const path: PathPattern = { kind: 'prefix', value: '/' };
  const rule = rules?.length ?? 0;
  return [...(hosts.size === 0 ? [''] : hosts)]
    .filter((host) => !covered.has(host))
    .map((host, index) => ({ rule, index, host: hostOf(host), path, backend: defaultBackend }));
}

function isCatchAll(path: IngressPath): boolean {
  const pattern = pathPattern(path);
  return pattern?.kind === 'prefix' && pattern.value === '/';
}

function ageOf({ metadata }: KubeObject): number | undefined {
  const age = Date.parse(metadata.creationTimestamp ?? '');
  return Number.isNaN(age) ? undefined : age;
}

function warningOf(object: ObjectRef, rule: number, warning: NonNullable<Resolved['warning']>): RouteWarning {
  const { namespace, name } = object;
  return {
    object,
    reason: warning.reason,
    message: `Ingress ${namespace}/${name} rule ${rule}: ${warning.message}`,
  };
}
