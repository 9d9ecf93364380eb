import { fileURLToPath } from 'node:url';

/** Minor releases of Kubernetes that the tests run against: the oldest that HAPTIC supports and a current one. */
export const kubeMinors = ['1.33', '1.37'] as const;

export type KubeMinor = (typeof kubeMinors)[number];

export type Tool = 'kube-apiserver' | 'kube-controller-manager' | 'kubectl' | 'etcd' | 'helm';

/** A program of the tests: which go.mod pins it, and how it tells its version. */
export interface Program {
  readonly tool: Tool;
  /** The folder with the go.mod and go.sum that pin it and all that it is built from. */
  readonly directory: string;
  /** The Go module whose version is the program's. */
  readonly requires: string;
  /** The Go package that is the program. */
  readonly main: string;
  readonly versionArgs: readonly string[];
  /** Finds the version, without `v`, in what the program prints. */
  readonly versionPattern: RegExp;
  /** Linker variables that take `v<version>`. */
  readonly versionVariables: readonly string[];
  /** Whether another version of the same program serves as well. */
  fits(version: string, pinned: string): boolean;
}

const sameMinor = (version: string, pinned: string): boolean => minorOf(version) === minorOf(pinned);

export function minorOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

function moduleDirectory(name: string): string {
  return fileURLToPath(new URL(`modules/${name}`, import.meta.url));
}

function kubernetes(
  minor: KubeMinor,
  tool: Tool,
  versionArgs: readonly string[],
  versionPattern: RegExp,
): Program {
  return {
    tool,
    directory: moduleDirectory(`kubernetes-${minor}`),
    requires: 'k8s.io/kubernetes',
    main: `k8s.io/kubernetes/cmd/${tool}`,
    versionArgs,
    versionPattern,
    versionVariables: ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'],
    fits: sameMinor,
  };
}

export function kubernetesPrograms(minor: KubeMinor): readonly Program[] {
  const server = /^Kubernetes v(\S+)/m;
  return [
    kubernetes(minor, 'kube-apiserver', ['--version'], server),
    kubernetes(minor, 'kube-controller-manager', ['--version'], server),
    kubernetes(minor, 'kubectl', ['version', '--client'], /^Client Version: v(\S+)/m),
  ];
}

export const etcd: Program = {
  tool: 'etcd',
  directory: moduleDirectory('etcd'),
  requires: 'go.etcd.io/etcd/server/v3',
  main: 'go.etcd.io/etcd/server/v3',
  versionArgs: ['--version'],
  versionPattern: /^etcd Version: (\S+)/m,
  versionVariables: [],
  // Both minors of Kubernetes work with 3.5 and 3.6; Debian 12's 3.4 is too old.
  fits: (version) => /^3\.([5-9]|\d\d)\./.test(version),
};

export const helm: Program = {
  tool: 'helm',
  directory: moduleDirectory('helm'),
  requires: 'helm.sh/helm/v4',
  main: 'helm.sh/helm/v4/cmd/helm',
  versionArgs: ['version', '--template', '{{.Version}}'],
  versionPattern: /^v(\S+)/m,
  versionVariables: ['helm.sh/helm/v4/internal/version'],
  fits: (version, pinned) => version.split('.')[0] === pinned.split('.')[0],
};

export function isKubeMinor(text: string): text is KubeMinor {
  return (kubeMinors as readonly string[]).includes(text);
}
