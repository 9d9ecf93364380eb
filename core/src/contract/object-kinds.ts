import type { KubeObject } from './object.ts';
import { serviceKey, type ServiceKey } from './service-key.ts';

/** One thing that is wrong with an object, by its path. */
export interface ObjectProblem {
  readonly path: readonly (string | number)[];
  /** Says what was expected. */
  readonly message: string;
}

/** What the Kubernetes API itself would refuse about objects of one kind, whatever a configuration makes of them. */
export interface ObjectCheck {
  readonly apiVersion: string;
  readonly kind: string;
  /** Pure. The object has an apiVersion, a kind and a name; nothing else of it is sure. */
  problems(object: KubeObject): readonly ObjectProblem[];
}

/**
 * Provided by a resource source that no API server stands before: whoever reads a kind adds, during `setup`, what makes an object
 * of it acceptable. An object with problems is not taken, and what was there before stays.
 */
export interface ObjectChecks {
  add(check: ObjectCheck): void;
}
export const OBJECT_CHECKS: ServiceKey<ObjectChecks> = serviceKey('object-checks');

/** What of a kind protects somebody, besides the annotations that are declared `security`. */
export interface SecurityFields {
  readonly apiVersion: string;
  readonly kind: string;
  /** Pure. The parts of an object whose edit must never be answered by the revision before it. */
  fields(object: KubeObject): unknown;
}

/** Provided by the core: whoever reads a kind adds, during `setup`, which of its fields those are. */
export interface SecurityFieldsRegistry {
  add(fields: SecurityFields): void;
}
export const SECURITY_FIELDS: ServiceKey<SecurityFieldsRegistry> = serviceKey('security-fields');

/** What is kept of a kind's objects: the rest never enters memory. */
export interface KeepRule {
  /** Equal keys keep equal objects: with another one everything is looked at again. */
  readonly key: string;
  keep(object: KubeObject): boolean;
}

/** What the reader of a kind wants of its objects, before anything is rendered. */
export interface ObjectInterest {
  readonly apiVersion: string;
  /** Plural, as in a watch: `ingresses`. */
  readonly resources: string;
  /** Tells own objects from foreign ones by the objects of another kind, e.g. the classes; pure. */
  readonly own?: {
    readonly by: { readonly apiVersion: string; readonly resources: string };
    rule(deciding: readonly KubeObject[]): KeepRule;
  };
  /** Secrets that an object names: they are kept whatever their type is. Pure. */
  secrets?(object: KubeObject): readonly { readonly namespace: string; readonly name: string }[];
}

/** Provided by a resource source before which there is more than anybody here wants; readers of kinds add during `setup`. */
export interface ObjectInterests {
  add(interest: ObjectInterest): void;
  /** False for an object that somebody else reads: it would not be kept. */
  isWanted(
    resource: { readonly group: string; readonly version: string; readonly resource: string },
    object: KubeObject,
  ): boolean;
}
export const OBJECT_INTERESTS: ServiceKey<ObjectInterests> = serviceKey('object-interests');
