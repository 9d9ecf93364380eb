import { onCleanup } from '../haproxy/cleanup.ts';
import type { ClusterAccess } from './access.ts';
import { ChaosProxy } from './chaos-proxy.ts';

/** A way to the cluster that a test can break. */
export async function proxyTo(
  cluster: ClusterAccess,
): Promise<{ readonly proxy: ChaosProxy; readonly through: ClusterAccess }> {
  const proxy = await ChaosProxy.start(Number(new URL(cluster.address.server).port));
  onCleanup(() => proxy.stop());
  const through = await cluster.via(`https://127.0.0.1:${proxy.port}`);
  onCleanup(() => through.close());
  return { proxy, through };
}
