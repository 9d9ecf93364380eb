import type { KubeObject, StoreView } from '@haptic/core/contract';
import { readIngress } from './ingress-object.ts';

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
  const { spec } = { spec: undefined, ...readIngress(object) };
  const name = spec?.ingressClassName ?? object.metadata.annotations?.[legacyClass];
  return name === undefined ? classes.default : classes.names.has(name);
}

function controllerOf({ spec }: KubeObject): unknown {
  return typeof spec === 'object' && spec !== null && 'controller' in spec ? spec.controller : undefined;
}
