import type { Backend, KubeObject, Pod, RenderPlan } from '@haptic/core/contract';

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
  const secret = new Set(
    plan.sections.filter((section) => section.secret === true).map(({ kind, name }) => `${kind} ${name}`),
  );
  return {
    ...plan,
    sections: plan.sections.map((section) => (section.secret === true ? withoutDigest(section) : section)),
    profiles: mapValues(plan.profiles, (profile, name) =>
      secret.has(`profile ${name}`) ? withoutDigest(profile) : profile,
    ),
    backends: mapValues(plan.backends, (backend, name) =>
      secret.has(`backend ${name}`) ? shownBackend(backend) : backend,
    ),
    maps: mapValues(plan.maps, (map) =>
      map.secret ? { ...withoutDigest(map), entries: `${map.entries.length} secret entries` } : map,
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

/** A backend with a secret section; how its servers are written is a part of that. */
function shownBackend(backend: Backend): object {
  const { directives: _directives, servers, ...rest } = withoutDigest(backend);
  return { ...rest, servers: servers.map(({ keywords: _keywords, ...server }) => server) };
}

function mapValues<T>(
  record: Readonly<Record<string, T>>,
  change: (value: T, name: string) => object,
): Readonly<Record<string, object>> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
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
