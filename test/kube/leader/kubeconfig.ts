import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterAccess } from '../../cluster/index.ts';
import { tempDir } from '../../haproxy/temp-dir.ts';
import { controllerRules, type InstallationNames } from '../rbac/controller-rules.ts';

/** A file for a user with exactly the rights that the chart gives to a controller of this namespace. */
export async function controllerKubeconfig(
  cluster: ClusterAccess,
  namespace: string,
  names?: InstallationNames,
): Promise<string> {
  const rules = controllerRules(undefined, names);
  const file = join(await tempDir(), 'kubeconfig');
  await writeFile(
    file,
    await cluster.user({ cluster: rules.cluster, namespaces: { [namespace]: rules.namespace } }),
  );
  return file;
}
