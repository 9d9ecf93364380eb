import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CertificateAuthority, KeyPair } from './certificates.ts';

/** Files that API server and controller manager read; paths. */
export interface ControlPlaneFiles {
  readonly ca: string;
  readonly serverCert: string;
  readonly serverKey: string;
  readonly serviceAccountKey: string;
  readonly controllerKubeconfig: string;
}

export async function writeControlPlaneFiles(
  folder: string,
  ca: CertificateAuthority,
  kubeconfig: (user: KeyPair) => string,
): Promise<ControlPlaneFiles> {
  const server = await ca.issue({
    commonName: 'kube-apiserver',
    ips: ['127.0.0.1'],
    names: ['localhost', 'kubernetes.default.svc'],
  });
  const controller = await ca.issue({
    commonName: 'system:kube-controller-manager',
    organizations: ['system:masters'],
  });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const put = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  return {
    ca: await put('ca.crt', ca.pair.cert),
    serverCert: await put('server.crt', server.cert),
    serverKey: await put('server.key', server.key),
    serviceAccountKey: await put(
      'service-account.key',
      privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ),
    controllerKubeconfig: await put('controller-manager.kubeconfig', kubeconfig(controller)),
  };
}

export function apiServerArgs(
  port: number,
  etcdUrl: string,
  files: ControlPlaneFiles,
  extra: readonly string[],
): readonly string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    // History ends only when a test compacts it.
    '--etcd-compaction-interval=0',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    // Endpoints of the service "kubernetes" cannot be loopback addresses, and nobody needs them here.
    '--endpoint-reconciler-type=none',
    `--tls-cert-file=${files.serverCert}`,
    `--tls-private-key-file=${files.serverKey}`,
    `--client-ca-file=${files.ca}`,
    '--authorization-mode=RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.serviceAccountKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    '--service-cluster-ip-range=10.255.0.0/16',
    '--allow-privileged=true',
    '--profiling=false',
    ...extra,
  ];
}

/** Those that make sense without nodes: no others, since one that collects Pods of missing nodes would undo what tests write. */
const controllers = [
  'clusterrole-aggregation',
  'cronjob',
  'deployment',
  'disruption',
  'endpoints',
  'endpointslice',
  'garbage-collector',
  'job',
  'namespace',
  'replicaset',
  'resourcequota',
  'root-ca-certificate-publisher',
  'service-cidr',
  'serviceaccount',
  'serviceaccount-token',
  'statefulset',
  'ttl-after-finished',
  'validatingadmissionpolicy-status',
];

export function controllerManagerArgs(port: number, files: ControlPlaneFiles): readonly string[] {
  return [
    `--kubeconfig=${files.controllerKubeconfig}`,
    `--service-account-private-key-file=${files.serviceAccountKey}`,
    `--root-ca-file=${files.ca}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--leader-elect=false',
    '--use-service-account-credentials=false',
    `--tls-cert-file=${files.serverCert}`,
    `--tls-private-key-file=${files.serverKey}`,
    `--controllers=${controllers.map((name) => `${name}-controller`).join(',')}`,
    '--profiling=false',
  ];
}
