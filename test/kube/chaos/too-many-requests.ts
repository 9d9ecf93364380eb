import { request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { createObject, deleteObject, isApiError, KubeApi, loadKubeConfig } from '@haptic/kube';
import type { ClusterAccess } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';

const flow = { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', namespaced: false } as const;
const levels = { ...flow, resource: 'prioritylevelconfigurations', kind: 'PriorityLevelConfiguration' };
const schemas = { ...flow, resource: 'flowschemas', kind: 'FlowSchema' };

/** The real thing: a priority level that lets nothing of ours pass, so that everything is answered by 429. */
export async function withTooManyRequests(
  cluster: ClusterAccess,
  namespace: string,
  work: () => Promise<void>,
): Promise<void> {
  const { api } = cluster;
  const limited = {
    nominalConcurrencyShares: 0,
    lendablePercent: 0,
    borrowingLimitPercent: 0,
    limitResponse: { type: 'Reject' },
  };
  const everything = {
    verbs: ['*'],
    apiGroups: ['*'],
    resources: ['*'],
    namespaces: ['*'],
    clusterScope: true,
  };
  const subjects = [{ kind: 'Group', group: { name: 'system:authenticated' } }];
  const metadata = { name: 'nothing-passes' };
  await createObject(api, levels, { metadata, spec: { type: 'Limited', limited } });
  await createObject(api, schemas, {
    metadata,
    spec: {
      matchingPrecedence: 2,
      priorityLevelConfiguration: metadata,
      rules: [{ subjects, resourceRules: [everything] }],
    },
  });
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }];
  const text = await cluster.user({ namespaces: { [namespace]: rules } });
  const user = new KubeApi(loadKubeConfig({ text }));
  const isRefused = (): Promise<boolean> =>
    user.json({ path: '/api/v1/namespaces/default/pods' }).then(
      () => false,
      (error: unknown) => isApiError(error, 429),
    );
  const over = new AbortController();
  try {
    const only = occupied(text, namespace, over.signal);
    await until(isRefused, { deadlineMs: 60_000, what: 'requests are answered by 429' });
    await work();
    over.abort();
    await only;
  } finally {
    over.abort();
    await user.close();
    await deleteObject(api, { resource: schemas, name: metadata.name });
    await deleteObject(api, { resource: levels, name: metadata.name });
  }
}

/** A level without seats lets one request pass at a time: this one does not come to its end. */
async function occupied(text: string, namespace: string, signal: AbortSignal): Promise<void> {
  const config = loadKubeConfig({ text });
  const [user, cluster] = [config.getCurrentUser(), config.getCurrentCluster()];
  const decoded = (data = ''): Buffer => Buffer.from(data, 'base64');
  const options = {
    method: 'POST',
    cert: decoded(user?.certData),
    key: decoded(user?.keyData),
    ca: decoded(cluster?.caData),
    headers: { 'content-type': 'application/json', 'content-length': '2' },
    agent: false,
  } as const;
  const url = `${cluster?.server}/api/v1/namespaces/${namespace}/configmaps`;
  while (!signal.aborted) {
    await new Promise<void>((resolve) => {
      const sent = request(url, options, (response) => void response.resume().on('close', resolve));
      const end = (): void => void sent.destroy();
      signal.addEventListener('abort', end, { once: true });
      sent.on('error', () => resolve()).on('close', () => resolve());
      sent.flushHeaders();
    });
    await sleep(20);
  }
}
