import type { KubeMinor, KubePrograms } from '../../tools/kube/index.ts';
import type { ClusterAddress } from './access.ts';

/** What a run has of one minor release of Kubernetes. */
export type ClusterOffer =
  | { readonly minor: KubeMinor; readonly programs: KubePrograms; readonly address: ClusterAddress }
  | { readonly minor: KubeMinor; readonly missing: string };

declare module 'vitest' {
  export interface ProvidedContext {
    clusters: readonly ClusterOffer[];
  }
}
