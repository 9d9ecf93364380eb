import { isIP } from 'node:net';
import type { Server } from '@haptic/core/contract';
import { digest } from './digest.ts';
import type { Endpoint, EndpointSlice, Service } from './kube-objects.ts';
import { compareText } from './precedence.ts';
import type { ServicePort } from './service-port.ts';

/** What HAProxy takes as a guid at most. */
const longestGuid = 127;
const serverName = /^[A-Za-z0-9_.:-]+$/;

/** One address of one pod. */
interface Candidate {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly ready: boolean;
}

/**
 * The servers of a backend: endpoints that are ready; where none is, those that end but still serve. While there are ready
 * ones, the ending ones drain. Named after pods, so that a pod is the same server however its slices are cut.
 */
export function serversOf(
  backend: string,
  service: Service,
  port: ServicePort,
  slices: readonly EndpointSlice[],
  keywords: readonly string[],
): readonly Server[] {
  const candidates = ofOneFamily(service, port, slices);
  const anyReady = candidates.some(({ ready }) => ready);
  const servers = new Map<string, Server>();
  for (const { name, address, port, ready } of candidates.toSorted(preferredFirst)) {
    if (servers.has(name)) continue;
    const state = ready || !anyReady ? 'ready' : 'drain';
    const guid = serverGuid(backend, name);
    servers.set(name, Object.freeze({ name, address, port, state, keywords, guid }));
  }
  return Object.freeze([...servers.values()].toSorted((a, b) => compareText(a.name, b.name)));
}

/** A Service of two families has each pod twice: the Service's first family that has endpoints is taken. */
function ofOneFamily(
  service: Service,
  port: ServicePort,
  slices: readonly EndpointSlice[],
): readonly Candidate[] {
  const families = new Set([...(service.spec.ipFamilies ?? []), 'IPv4', 'IPv6']);
  for (const family of families) {
    const candidates = slices
      .filter(({ addressType }) => addressType === family)
      .flatMap((slice) => candidatesOf(slice, port));
    if (candidates.length > 0) return candidates;
  }
  return [];
}

function candidatesOf(slice: EndpointSlice, servicePort: ServicePort): readonly Candidate[] {
  const wanted = servicePort.name ?? '';
  const protocol = servicePort.protocol ?? 'TCP';
  const port = (slice.ports ?? []).find(
    (candidate) => (candidate.name ?? '') === wanted && (candidate.protocol ?? 'TCP') === protocol,
  )?.port;
  if (port === undefined || port === null) return [];
  return (slice.endpoints ?? []).flatMap((endpoint) => candidateOf(endpoint, port) ?? []);
}

function candidateOf({ addresses, conditions, targetRef }: Endpoint, port: number): Candidate | undefined {
  const [address] = addresses;
  if (address === undefined || isIP(address) === 0) return undefined;
  const ready = conditions.ready ?? true;
  const serving = conditions.serving ?? ready;
  if (!ready && !serving) return undefined;
  const pod = targetRef?.kind === 'Pod' ? targetRef.name : undefined;
  const name = pod !== undefined && serverName.test(pod) ? pod : `${address}-${port}`;
  return { name, address, port, ready: ready && conditions.terminating !== true };
}

/** Of a pod that is there twice: ready before ending, then the lower address. */
function preferredFirst(a: Candidate, b: Candidate): number {
  return (
    Number(b.ready) - Number(a.ready) ||
    compareText(a.name, b.name) ||
    compareText(a.address, b.address) ||
    a.port - b.port
  );
}

function serverGuid(backend: string, name: string): string {
  const guid = `srv:${backend}:${name}`;
  return guid.length <= longestGuid ? guid : `srv:${digest(guid)}`;
}
