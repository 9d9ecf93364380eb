import { digest } from './digest.ts';
import { quoted } from './quoted.ts';
import type { BackendRef } from './route.ts';

const kubernetesName = /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;

/** What is wrong with a reference to a backend, or undefined. */
export function backendProblem({ namespace, service, port }: BackendRef): string | undefined {
  if (!kubernetesName.test(namespace)) return `${quoted(namespace)} is no namespace`;
  if (!kubernetesName.test(service)) return `${quoted(service)} is no Service's name`;
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return `${port} is no port`;
  return undefined;
}

/**
 * The backend's name in HAProxy, different for different references: names of Kubernetes hold no `_`, and what stands after
 * the port is a digest.
 */
export function backendName(ref: BackendRef): string {
  const name = `${ref.namespace}_${ref.service}_${ref.port}`;
  const { profile = '', serverKeywords = [] } = ref;
  if (profile === '' && serverKeywords.length === 0) return name;
  return `${name}_${digest(JSON.stringify([profile, serverKeywords])).slice(0, 16)}`;
}
