import type { KeepRule, KubeObject, ObjectInterest, ObjectInterests } from '@haptic/core/contract';

/** Names a resource: `networking.k8s.io/v1 ingresses`. */
export function resourceKey({
  apiVersion,
  resources,
}: Pick<ObjectInterest, 'apiVersion' | 'resources'>): string {
  return `${apiVersion} ${resources}`;
}

const SECRETS = resourceKey({ apiVersion: 'v1', resources: 'secrets' });

/** What the readers of kinds want. Read when watching begins: by then every plugin has been set up. */
export class Interests implements ObjectInterests {
  readonly #byResource = new Map<string, ObjectInterest[]>();
  readonly #rules = new Map<string, KeepRule>();
  readonly #wantedSecrets = new Set<KeepRule['keep']>();

  add(interest: ObjectInterest): void {
    const key = resourceKey(interest);
    this.#byResource.set(key, [...(this.#byResource.get(key) ?? []), interest]);
  }

  /** Which objects of a resource are kept from now on. */
  decided(resource: Pick<ObjectInterest, 'apiVersion' | 'resources'>, rule: KeepRule): void {
    this.#rules.set(resourceKey(resource), rule);
  }

  /** Somebody keeps Secrets of these for a while. Returns how to stop. */
  followSecrets(keeps: KeepRule['keep']): () => void {
    this.#wantedSecrets.add(keeps);
    return () => void this.#wantedSecrets.delete(keeps);
  }

  isWanted(
    {
      group,
      version,
      resource,
    }: { readonly group: string; readonly version: string; readonly resource: string },
    object: KubeObject,
  ): boolean {
    const apiVersion = group === '' ? version : `${group}/${version}`;
    const key = resourceKey({ apiVersion, resources: resource });
    if (key === SECRETS && this.#wantedSecrets.size > 0)
      return [...this.#wantedSecrets].some((keeps) => keeps(object));
    return this.#rules.get(key)?.keep(object) ?? true;
  }

  of(resource: Pick<ObjectInterest, 'apiVersion' | 'resources'>): readonly ObjectInterest[] {
    return this.#byResource.get(resourceKey(resource)) ?? [];
  }
}
