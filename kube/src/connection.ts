import { serviceKey, type ServiceKey } from '@haptic/core/contract';
import type { KubeApi } from './api.ts';
import type { Discovery } from './discovery.ts';

/** What plugins that talk to the cluster share. */
export interface KubeConnection {
  readonly api: KubeApi;
  /** Where the installation lives: its configuration, its Lease, its pods. */
  readonly namespace: string;
  /** Followed from the start on; the server may be away then, and what is not served is only told by it once `known`. */
  readonly discovery: Discovery;
  /** Called when kinds have come or gone. Returns how to stop. */
  onKindsChanged(listener: () => void): () => void;
  /** Looks at once whether kinds have come or gone. @throws ApiError when the server refuses, Retry when it does not answer. */
  refreshKinds(signal: AbortSignal): Promise<void>;
}
export const KUBE: ServiceKey<KubeConnection> = serviceKey('kube');

/** Name of the installation's configuration, provided by its source: what belongs to one of several in a namespace is named after it. */
export const CONFIG_NAME: ServiceKey<string> = serviceKey('config-name');
