import type { TestProject } from 'vitest/node';
import { kubeMinors, kubePrograms, ToolUnavailable, type KubeMinor } from '../../tools/kube/index.ts';
import type { ClusterOffer } from './offer.ts';
import { TestCluster } from './test-cluster.ts';

/** Starts one cluster for each minor release; all test files of a run share them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started: TestCluster[] = [];
  const offers = await Promise.all(kubeMinors.map((minor) => offer(minor, started)));
  project.provide('clusters', offers);
  return async () => {
    await Promise.all(started.map((cluster) => cluster[Symbol.asyncDispose]()));
  };
}

async function offer(minor: KubeMinor, started: TestCluster[]): Promise<ClusterOffer> {
  try {
    const programs = await kubePrograms(minor, { log: (line) => console.error(line) });
    const cluster = await TestCluster.start({ minor, programs });
    started.push(cluster);
    return { minor, programs, address: cluster.address };
  } catch (error) {
    if (error instanceof ToolUnavailable) return { minor, missing: error.message };
    throw error;
  }
}
