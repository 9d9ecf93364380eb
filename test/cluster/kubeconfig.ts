import type { KeyPair } from './certificates.ts';

/** A kubeconfig (JSON is YAML) for one user of one server. */
export function kubeconfig(server: string, ca: string, user: KeyPair, namespace = 'default'): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace } }],
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [
      {
        name: 'test',
        user: { 'client-certificate-data': base64(user.cert), 'client-key-data': base64(user.key) },
      },
    ],
  });
}
