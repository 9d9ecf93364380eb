import type { KubeObject, StoreView } from '@haptic/core/contract';

const defaultClass = 'ingressclass.kubernetes.io/is-default-class';
const legacyClass = 'kubernetes.io/ingress.class';

/** The IngressClasses of this controller. */
export interface OwnClasses {
  readonly names: ReadonlySet<string>;
  /** Whether Ingresses without a class are ours too. */
  readonly default: boolean;
}

export function ownClasses(view: StoreView, controllerName: string): OwnClasses {
  const own = view
    .watch('ingressclasses')
    .list()
    .filter((object) => controllerOf(object) === controllerName);
  return {
    names: new Set(own.map(({ metadata }) => metadata.name)),
    default: own.some(({ metadata }) => metadata.annotations?.[defaultClass] === 'true'),
  };
}

/** By `spec.ingressClassName`, else by the annotation that came before it, else by the default class. */
export function isOwn(object: KubeObject, classes: OwnClasses): boolean {
  const name = memberOf(object['spec'], 'ingressClassName') ?? object.metadata.annotations?.[legacyClass];
  return name === undefined ? classes.default : typeof name === 'string' && classes.names.has(name);
}

function controllerOf(object: KubeObject): unknown {
  return memberOf(object['spec'], 'controller');
}

/** Of an object that nobody has checked yet; null is absent. */
function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key] ?? undefined;
}
