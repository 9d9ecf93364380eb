import type { ObjectInterest, ObjectInterests } from '@haptic/core/contract';

/** Names a resource: `networking.k8s.io/v1 ingresses`. */
export function resourceKey({
  apiVersion,
  resources,
}: Pick<ObjectInterest, 'apiVersion' | 'resources'>): string {
  return `${apiVersion} ${resources}`;
}

/** What the readers of kinds want. Read when watching begins: by then every plugin has been set up. */
export class Interests implements ObjectInterests {
  readonly #byResource = new Map<string, ObjectInterest[]>();

  add(interest: ObjectInterest): void {
    const key = resourceKey(interest);
    this.#byResource.set(key, [...(this.#byResource.get(key) ?? []), interest]);
  }

  of(resource: Pick<ObjectInterest, 'apiVersion' | 'resources'>): readonly ObjectInterest[] {
    return this.#byResource.get(resourceKey(resource)) ?? [];
  }
}
