import { KubeApi, loadKubeConfig } from '@haptic/kube';
import { randomBytes } from 'node:crypto';
import { CertificateAuthority, type KeyPair } from './certificates.ts';
import { kubeconfig } from './kubeconfig.ts';

/** How to reach a cluster; plain data, so that it can be handed to another process. */
export interface ClusterAddress {
  readonly server: string;
  readonly ca: KeyPair;
  /** Of Kubernetes: `1.37`. */
  readonly minor: string;
}

/** A rule of a Role: `{ apiGroups, resources, verbs, resourceNames? }`. */
export interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

export interface UserRights {
  /** In all namespaces. */
  readonly cluster?: readonly PolicyRule[];
  /** By namespace. */
  readonly namespaces?: Readonly<Record<string, readonly PolicyRule[]>>;
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** What tests do with a cluster besides testing: users, namespaces, requests as administrator. */
export class ClusterAccess {
  readonly address: ClusterAddress;
  /** As administrator. */
  readonly api: KubeApi;
  readonly adminKubeconfig: string;
  readonly #authority: CertificateAuthority;

  private constructor(address: ClusterAddress, authority: CertificateAuthority, adminKubeconfig: string) {
    this.address = address;
    this.#authority = authority;
    this.adminKubeconfig = adminKubeconfig;
    this.api = new KubeApi(loadKubeConfig({ text: adminKubeconfig }));
  }

  static async open(address: ClusterAddress): Promise<ClusterAccess> {
    const authority = await CertificateAuthority.load(address.ca);
    const admin = await authority.issue({ commonName: 'admin', organizations: ['system:masters'] });
    return new ClusterAccess(address, authority, kubeconfig(address.server, address.ca.cert, admin));
  }

  /** The same cluster through another address, such as a proxy's. */
  async via(server: string): Promise<ClusterAccess> {
    return ClusterAccess.open({ ...this.address, server });
  }

  /** A kubeconfig for a new user who may do only this. */
  async user(rights: UserRights): Promise<string> {
    const name = `user-${randomBytes(5).toString('hex')}`;
    if (rights.cluster !== undefined) await this.#grant(RBAC, 'ClusterRole', name, rights.cluster);
    for (const [namespace, rules] of Object.entries(rights.namespaces ?? {})) {
      await this.#grant(`${RBAC}/namespaces/${namespace}`, 'Role', name, rules);
    }
    const [namespace = 'default'] = Object.keys(rights.namespaces ?? {});
    const pair = await this.#authority.issue({ commonName: name });
    return kubeconfig(this.address.server, this.address.ca.cert, pair, namespace);
  }

  /** A new namespace; it goes, with what is in it, when the cluster ends or `await using` says so. */
  async namespace(labels: Readonly<Record<string, string>> = {}): Promise<TestNamespace> {
    const name = `test-${randomBytes(5).toString('hex')}`;
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
    await this.api.json({ method: 'POST', path: '/api/v1/namespaces', body });
    const remove = () => this.api.json({ method: 'DELETE', path: `/api/v1/namespaces/${name}` });
    return {
      name,
      async [Symbol.asyncDispose]() {
        await remove().catch(() => undefined); // the cluster may be gone, on purpose
      },
    };
  }

  async close(): Promise<void> {
    await this.api.close();
  }

  async #grant(scope: string, kind: 'Role' | 'ClusterRole', name: string, rules: readonly PolicyRule[]) {
    const plural = `${kind.toLowerCase()}s`;
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const metadata = { name };
    await this.api.json({
      method: 'POST',
      path: `${scope}/${plural}`,
      body: { apiVersion, kind, metadata, rules },
    });
    await this.api.json({
      method: 'POST',
      path: `${scope}/${plural.replace('roles', 'rolebindings')}`,
      body: {
        apiVersion,
        kind: `${kind}Binding`,
        metadata,
        subjects: [{ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' }],
        roleRef: { kind, name, apiGroup: 'rbac.authorization.k8s.io' },
      },
    });
  }
}

export interface TestNamespace extends AsyncDisposable {
  readonly name: string;
}
