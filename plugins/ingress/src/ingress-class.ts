import type { KubeObject, ObjectInterest, ReachableKind, Served, StoreView } from '@haptic/core/contract';

const defaultClass = 'ingressclass.kubernetes.io/is-default-class';
const legacyClass = 'kubernetes.io/ingress.class';

/** The IngressClasses of this controller. */
export interface OwnClasses {
  readonly names: ReadonlySet<string>;
  /** Whether Ingresses without a class are ours too. */
  readonly default: boolean;
}

export function ownClasses(view: StoreView, controllerName: string): OwnClasses {
  return classesOf(view.watch('ingressclasses').list(), controllerName);
}

function classesOf(objects: readonly KubeObject[], controllerName: string): OwnClasses {
  const own = objects.filter((object) => controllerOf(object) === controllerName);
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

/** Foreign Ingresses are dropped on arrival: which ones they are, the classes say. */
export function ingressInterest(controllerName: string): ObjectInterest {
  const apiVersion = 'networking.k8s.io/v1';
  return {
    apiVersion,
    resources: 'ingresses',
    own: {
      by: { apiVersion, resources: 'ingressclasses' },
      rule(deciding) {
        const classes = classesOf(deciding, controllerName);
        const key = JSON.stringify([[...classes.names].toSorted(), classes.default]);
        return { key, keep: (object) => isOwn(object, classes) };
      },
    },
  };
}

const NOTHING: Served = { objects: [], unavailable: [] };

/** Their status says where they can be reached. */
export function reachableIngresses(controllerName: string): ReachableKind {
  const answers = new WeakMap<StoreView, Served>();
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    resources: 'ingresses',
    served(view) {
      let answer = answers.get(view);
      if (answer === undefined) {
        answer = view.watches.includes('ingresses') ? servedBy(view, controllerName) : NOTHING;
        answers.set(view, answer);
      }
      return answer;
    },
  };
}

function servedBy(view: StoreView, controllerName: string): Served {
  const classes = ownClasses(view, controllerName);
  const ingresses = view.watch('ingresses');
  const own = (object: KubeObject): boolean => isOwn(object, classes);
  return { objects: ingresses.list().filter(own), unavailable: ingresses.unavailable().filter(own) };
}

function controllerOf(object: KubeObject): unknown {
  return memberOf(object['spec'], 'controller');
}

/** Of an object that nobody has checked yet; null is absent. */
function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key] ?? undefined;
}
