import { kubePrograms } from '../../tools/kube/index.ts';
import { TestCluster } from '../cluster/test-cluster.ts';

/** `cluster-runner.ts MINOR`: starts a cluster, says what it started, and waits to be killed. */
const [minor = ''] = process.argv.slice(2);
const programs = await kubePrograms(minor as '1.37');
const cluster = await TestCluster.start({ minor, programs });
console.log(JSON.stringify({ folder: cluster.folder }));
setInterval(() => undefined, 60_000);
