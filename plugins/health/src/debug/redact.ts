import type { KubeObject, Pod, RenderPlan } from '@haptic/core/contract';

/** An object without what must not be shown: of a Secret remains what it is called, not what it says. */
export function shownObject(object: KubeObject): object {
  if (object.kind !== 'Secret') return object;
  const { apiVersion, kind, metadata, data } = object;
  const { name, namespace, uid, resourceVersion, labels } = metadata;
  const keys = typeof data === 'object' && data !== null ? Object.keys(data) : [];
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, labels },
    type: object['type'],
    keys,
  };
}

/**
 * A plan without what is marked secret. Digests of secret texts go too: of a short password they tell everything.
 */
export function shownPlan(plan: RenderPlan): object {
  return {
    ...plan,
    sections: plan.sections.map((section) => (section.secret === true ? withoutDigest(section) : section)),
    maps: Object.fromEntries(
      Object.entries(plan.maps).map(([path, map]) => [
        path,
        map.secret ? { ...withoutDigest(map), entries: `${map.entries.length} secret entries` } : map,
      ]),
    ),
    certificates: Object.keys(plan.certificates),
    files: shownFiles(plan),
    k8sResources: plan.k8sResources.map((resource) => shownObject(resource as unknown as KubeObject)),
  };
}

export function shownFiles({ files }: RenderPlan): readonly object[] {
  return files.map((file) =>
    file.secret === true || file.kind === 'certificate' ? withoutDigest(file) : file,
  );
}

function withoutDigest<T extends { readonly digest: string }>(value: T): Omit<T, 'digest'> {
  const { digest: _digest, ...rest } = value;
  return rest;
}

/** A pod by its ids: what it runs in full is `/debug/plan`. */
export function shownPod({ baseline, loadedProfiles, ...pod }: Pod): object {
  return {
    ...pod,
    baseline: baseline?.id,
    ...(loadedProfiles !== undefined && { loadedProfiles: [...loadedProfiles] }),
  };
}
