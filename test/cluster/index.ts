import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { kubeMinors, type KubeMinor, type KubePrograms } from '../../tools/kube/index.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { ClusterAccess } from './access.ts';
import type { ClusterOffer } from './offer.ts';
import { TestCluster, type ClusterOptions } from './test-cluster.ts';

export { ClusterAccess, type PolicyRule, type TestNamespace, type UserRights } from './access.ts';
export { ChaosProxy } from './chaos-proxy.ts';
export { proxyTo } from './proxy-to.ts';
export { NetworkUnavailable, TestNetwork } from './network.ts';
export { TestCluster } from './test-cluster.ts';

/** The release that tests use which need only one. */
export const currentMinor: KubeMinor = '1.37';

/**
 * Declares the tests once for each release (or those given), with the cluster that the run shares: a test takes a namespace of
 * its own. Where a release cannot be had its tests are skipped, and counted with the reason; in CI that is a failure.
 */
export function forEachCluster(
  declare: (cluster: () => ClusterAccess, programs: KubePrograms) => void,
  minors: readonly KubeMinor[] = kubeMinors,
): void {
  for (const offer of inject('clusters').filter(({ minor }) => minors.includes(minor))) {
    if ('missing' in offer) declareMissing(offer.minor, offer.missing, () => declare(noCluster, noPrograms));
    else describe(`Kubernetes ${offer.minor}`, () => declare(shared(offer), offer.programs));
  }
}

/**
 * Declares tests that start clusters of their own, to stop, pause and cut them; they end with the test. Skipped and counted as
 * with `forEachCluster`.
 */
export function withOwnClusters(
  declare: (start: (options?: Partial<ClusterOptions>) => Promise<TestCluster>) => void,
  minor: KubeMinor = currentMinor,
): void {
  for (const offer of inject('clusters').filter((one) => one.minor === minor)) {
    if ('missing' in offer) declareMissing(minor, offer.missing, () => declare(noCluster));
    else declare((options = {}) => ownCluster({ minor, programs: offer.programs, ...options }));
  }
}

async function ownCluster(options: ClusterOptions): Promise<TestCluster> {
  const cluster = await TestCluster.start(options);
  onCleanup(() => cluster[Symbol.asyncDispose]());
  return cluster;
}

function shared(offer: Extract<ClusterOffer, { readonly address: unknown }>): () => ClusterAccess {
  let access: ClusterAccess | undefined;
  beforeAll(async () => {
    access = await ClusterAccess.open(offer.address);
  });
  afterAll(() => access?.close());
  return () => access ?? noCluster();
}

/** Tests that are skipped are declared all the same. */
const noPrograms = {} as KubePrograms;

function noCluster(): never {
  throw new Error('the cluster is there only while tests run');
}

/** What is missing and what was tried, for a title. */
function inOneLine(reason: string): string {
  const [what = '', ...more] = reason.split('\n');
  const tried = more.filter((line) => line.startsWith('  - ')).map((line) => line.slice(4));
  return `${what.replace(' Tried:', '')} ${tried.join('; ')}`;
}

function declareMissing(minor: KubeMinor, reason: string, declare: () => void): void {
  if (process.env['CI'] === 'true') {
    test(`Kubernetes ${minor} is there`, () => expect.fail(reason));
    return;
  }
  describe.skip(`Kubernetes ${minor} (${inOneLine(reason)})`, declare);
}
