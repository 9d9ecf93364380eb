import type { KubeObject, ObjectRef, Server, StoreView, WatchView } from '@haptic/core/contract';
import { objectRef, readEndpointSlice, readService } from './kube-objects.ts';
import { sameItems } from './same-items.ts';
import { serversOf } from './servers.ts';
import { portOf } from './service-port.ts';
import type { UsedBackend } from './used-backend.ts';

const serviceLabel = 'kubernetes.io/service-name';

/** A backend as templates see it. */
export interface RoutedBackend {
  readonly name: string;
  readonly namespace: string;
  readonly service: string;
  readonly port: number;
  readonly profile: string;
  readonly servers: readonly Server[];
  /** The Service, and what routes to it. */
  readonly objects: readonly ObjectRef[];
}

interface Resolved {
  readonly used: UsedBackend;
  readonly service: KubeObject;
  readonly slices: readonly KubeObject[];
  readonly backend: RoutedBackend | undefined;
}

/**
 * Gives backends their servers from Services and EndpointSlices. One whose Service or port does not exist is left out: requests
 * for it are answered 503 until it does, and no route has to change.
 */
export class BackendResolver {
  #before = new Map<string, Resolved>();
  #services: WatchView | undefined;
  #slices: { readonly list: readonly KubeObject[]; readonly byService: SlicesByService } | undefined;

  resolve(backends: readonly UsedBackend[], view: StoreView): readonly RoutedBackend[] {
    const services = view.watch('services');
    const slicesBefore = this.#slices?.byService;
    const slicesByService = this.#slicesOf(view.watch('endpointslices').list());
    // With nothing new of either kind, a backend that was resolved needs no second look.
    const unchanged = services === this.#services && slicesByService === slicesBefore;
    this.#services = services;
    const now = new Map<string, Resolved>();
    for (const used of backends) {
      const kept = this.#before.get(used.name);
      if (unchanged && kept?.used === used) {
        now.set(used.name, kept);
        continue;
      }
      const { namespace, service: name } = used.ref;
      const service = services.get(namespace, name);
      if (service === undefined) continue;
      const slices = slicesByService.get(`${namespace}/${name}`) ?? [];
      const same =
        kept !== undefined &&
        kept.used === used &&
        kept.service === service &&
        sameItems(kept.slices, slices);
      now.set(used.name, same ? kept : { used, service, slices, backend: resolve(used, service, slices) });
    }
    this.#before = now;
    return [...now.values()].flatMap(({ backend }) => backend ?? []);
  }

  #slicesOf(list: readonly KubeObject[]): SlicesByService {
    if (this.#slices === undefined || !sameItems(this.#slices.list, list)) {
      this.#slices = { list, byService: groupByService(list) };
    }
    return this.#slices.byService;
  }
}

type SlicesByService = ReadonlyMap<string, readonly KubeObject[]>;

function groupByService(slices: readonly KubeObject[]): SlicesByService {
  const groups = new Map<string, KubeObject[]>();
  for (const slice of slices) {
    const service = slice.metadata.labels?.[serviceLabel];
    if (service === undefined) continue;
    const key = `${slice.metadata.namespace ?? ''}/${service}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [slice]);
    else group.push(slice);
  }
  return groups;
}

function resolve(
  { name, ref, objects }: UsedBackend,
  object: KubeObject,
  slices: readonly KubeObject[],
): RoutedBackend | undefined {
  const service = readService(object);
  const port = service && portOf(service, ref.port);
  if (service === undefined || port === undefined) return undefined;
  const endpoints = slices.flatMap((slice) => readEndpointSlice(slice) ?? []);
  return Object.freeze({
    name,
    namespace: ref.namespace,
    service: ref.service,
    port: ref.port,
    profile: ref.profile ?? '',
    servers: serversOf(name, service, port, endpoints, ref.serverKeywords ?? []),
    objects: Object.freeze([objectRef(object), ...objects]),
  });
}
