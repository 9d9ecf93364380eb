import type { KubeObject } from './object.ts';
import { serviceKey, type ServiceKey } from './service-key.ts';
import type { StoreView } from './view.ts';

/** Objects of one kind that are served, as far as those who wait for their addresses are concerned. */
export interface Served {
  /** What is accepted: it can be reached. */
  readonly objects: readonly KubeObject[];
  /** Ours as well, but in quarantine with nothing accepted before: what was said of them stays. */
  readonly unavailable: readonly KubeObject[];
}

/** A kind whose status says at which addresses its objects can be reached, in `status.loadBalancer.ingress`. */
export interface ReachableKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Plural, as in a watch: `ingresses`. */
  readonly resources: string;
  /** Pure; the identical answer for the identical view. */
  served(view: StoreView): Served;
}

/** Provided by whoever writes addresses into statuses; readers of kinds add during `setup`. */
export interface ReachableKinds {
  add(kind: ReachableKind): void;
}
export const REACHABLE_KINDS: ServiceKey<ReachableKinds> = serviceKey('reachable-kinds');
