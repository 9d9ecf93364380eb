import type { KubeApi, Resource } from '@haptic/kube';
import { collectionPath, createObject } from '@haptic/kube';
import { CertificateAuthority } from '../../cluster/certificates.ts';
import { ingress, service, slice } from '../e2e/objects.ts';

export const resources = {
  ingresses: { apiVersion: 'networking.k8s.io/v1', resource: 'ingresses', kind: 'Ingress', namespaced: true },
  services: { apiVersion: 'v1', resource: 'services', kind: 'Service', namespaced: true },
  slices: {
    apiVersion: 'discovery.k8s.io/v1',
    resource: 'endpointslices',
    kind: 'EndpointSlice',
    namespaced: true,
  },
  secrets: { apiVersion: 'v1', resource: 'secrets', kind: 'Secret', namespaced: true },
} as const satisfies Record<string, Resource>;

export type Target = readonly [resource: Resource, object: object];

/** The name and the host of a site by its number. */
export const siteName = (index: number): string => `site-${index}`;
export const siteHost = (index: number): string => `${siteName(index)}.test`;

/** So many requests are under way at once: more only wait in the API server. */
const AT_ONCE = 32;

/** Calls for each number below `count`, many at once. */
export async function manyAtOnce(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

export interface Sites {
  readonly namespace: string;
  readonly count: number;
  /** The endpoint of all. */
  readonly address: string;
  readonly port: number;
  readonly certificates: boolean;
}

/** Sites of one host each, with a Service and an EndpointSlice, and a certificate of its own where that is asked for. */
export async function createSites(
  api: KubeApi,
  { namespace, count, address, port, certificates }: Sites,
): Promise<void> {
  const authority = await CertificateAuthority.create('sites');
  const create = (resource: Resource, object: object): Promise<unknown> => {
    const { metadata, ...rest } = object as { metadata: object };
    return createObject(api, resource, { ...rest, metadata: { ...metadata, namespace } });
  };
  await manyAtOnce(count, async (index) => {
    const [name, host] = [siteName(index), siteHost(index)];
    if (certificates) {
      const { cert, key } = await authority.issue({ commonName: host, names: [host] });
      await create(resources.secrets, secret(name, 'kubernetes.io/tls', { 'tls.crt': cert, 'tls.key': key }));
    }
    const tls = certificates ? { tls: [{ hosts: [host], secretName: name }] } : {};
    await create(resources.services, service(name));
    await create(resources.slices, slice(name, [address], port));
    await create(resources.ingresses, ingress(name, host, name, tls));
  });
}

export function secret(name: string, type: string, data: Readonly<Record<string, string>>): object {
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return { metadata: { name }, type, data: Object.fromEntries(encoded) as object };
}

/** Another controller's. */
export async function createForeignIngresses(api: KubeApi, namespace: string, count: number): Promise<void> {
  await manyAtOnce(count, async (index) => {
    const name = `foreign-${index}`;
    const object = ingress(name, `${name}.test`, name, { ingressClassName: 'other' });
    const path = collectionPath(resources.ingresses, namespace);
    await api.json({ method: 'POST', path, body: { ...object, metadata: { name, namespace } } });
  });
}

/** As Helm keeps its releases. Text that no compression makes small, of `bytes` when it is encoded. */
export async function createReleases(
  api: KubeApi,
  { namespace, count, bytes }: { readonly namespace: string; readonly count: number; readonly bytes: number },
): Promise<void> {
  const release = 'r'.repeat(Math.floor((bytes * 3) / 4));
  await manyAtOnce(count, async (index) => {
    const object = secret(`sh.helm.release.v1.app.v${index}`, 'helm.sh/release.v1', { release });
    await createObject(api, resources.secrets, { ...object, metadata: { ...metadataOf(object), namespace } });
  });
}

function metadataOf(object: object): { readonly name: string } {
  return (object as { readonly metadata: { readonly name: string } }).metadata;
}
