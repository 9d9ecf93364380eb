import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { ChaosProxy, type ClusterAccess, withOwnClusters, type TestCluster } from '../../cluster/index.ts';
import { until } from '../../haproxy/until.ts';
import { type Copy, expectNothingWrong, freshList, reflect } from './copy.ts';
import { heapAfterCollection } from './heap.ts';
import { seeded } from '../../haproxy/seeded.ts';
import { Writer } from './writer.ts';

export interface ChaosNumbers {
  readonly objects: number;
  readonly cuts: number;
  /** Between two cuts, and after each other fault. */
  readonly writes: number;
  readonly rounds: number;
}

interface Scene {
  readonly cluster: TestCluster;
  readonly proxy: ChaosProxy;
  readonly writer: Writer;
  readonly copy: Copy;
  /** Waits until the copy is what a fresh list is, and no wrong change was told on the way. */
  readonly settled: (what: string) => Promise<void>;
}

const timing = { inactivity: 3_000, requestTimeout: 5_000 };
const settleMs = 60_000;
/** A page of the list and the garbage of its parsing may be around at any time. */
const heapSlack = 4_000_000;

/** The reflector against a server that fails in every way it can; the same tests with small and with large numbers. */
export function declareChaos(numbers: ChaosNumbers): void {
  withOwnClusters((start) => {
    async function scene(): Promise<Scene> {
      const cluster = await start({ controllers: false });
      const proxy = await ChaosProxy.start(cluster.apiServerPort);
      onTestFinished(() => proxy.stop());
      const seed = Date.now() % 2 ** 31;
      console.log(`seed ${seed}`);
      const { name } = await cluster.access.namespace();
      const writer = new Writer(cluster.access.api, name, seeded(seed));
      await writer.createMany(numbers.objects);
      const watcher: ClusterAccess = await cluster.access.via(`https://127.0.0.1:${proxy.port}`);
      onTestFinished(() => watcher.close());
      const copy = await reflect(watcher.api, name, timing);
      const settled = async (what: string): Promise<void> => {
        const fresh = await freshList(cluster.access.api, name);
        await until(() => isDeepStrictEqual(copy.contents(), fresh), { deadlineMs: settleMs, what });
        expectNothingWrong(copy, writer.written);
      };
      await settled('the first list');
      return { cluster, proxy, writer, copy, settled };
    }

    test('each write is one change, and one of an ignored field is none', async () => {
      const { writer, copy, settled } = await scene();
      expect(copy.objects.size).toBe(numbers.objects);
      await writer.updateMany(numbers.writes, 'noise');
      await writer.updateMany(1, 'value');
      await settled('the updates');
      expect(copy.changes).toBe(1);
      expect(copy.lists).toBe(1);
    });

    test(`a watch that is cut ${numbers.cuts} times loses nothing, invents nothing and keeps nothing`, async () => {
      const { proxy, writer, copy, settled } = await scene();
      let early = 0;
      for (let cut = 1; cut <= numbers.cuts; cut++) {
        await until(() => proxy.openConnections > 0, { what: 'the watch has a connection' });
        const before = copy.restarts;
        const writing = writer.writeMany(numbers.writes);
        proxy.cut();
        await writing;
        await until(() => copy.restarts > before, { what: `restart ${cut}` });
        if (cut % Math.ceil(numbers.cuts / 10) !== 0) continue;
        await settled(`cut ${cut}`);
        if (early === 0) early = heapAfterCollection();
      }
      expect(copy.lists).toBe(1);
      expect(copy.replaced).toBe(1);
      // The book of the writer grows by itself: some 100 bytes a write.
      const book = numbers.cuts * numbers.writes * 200;
      const late = heapAfterCollection();
      console.log(`heap after a tenth of the cuts ${early}, after all ${late} bytes`);
      expect(late).toBeLessThan(early + heapSlack + book);
    });

    test('history that was compacted away meanwhile is made up for by a list', async () => {
      const { cluster, proxy, writer, copy, settled } = await scene();
      for (let round = 1; round <= numbers.rounds; round++) {
        proxy.refuse(true);
        proxy.cut();
        await writer.writeMany(numbers.writes);
        await cluster.etcd.compact();
        // The API server has a window of its own of the last events; only a restart makes it forget them.
        await cluster.apiServer.kill();
        await cluster.startApiServer();
        proxy.refuse(false);
        await settled(`compaction ${round}`);
      }
      expect(copy.lists).toBe(1 + numbers.rounds);
      expect(copy.replaced).toBe(1);
    });

    test('a server that is killed, restarted, paused, silent or slow is outlived', async () => {
      const { cluster, proxy, writer, settled } = await scene();
      for (let round = 1; round <= numbers.rounds; round++) {
        await cluster.apiServer.kill();
        await cluster.startApiServer();
        await writer.writeMany(numbers.writes);
        await settled('the API server was killed');

        await cluster.etcd.program.kill();
        await cluster.startEtcd();
        await until(() => writer.writeMany(1).then(() => true), {
          deadlineMs: 30_000,
          what: 'writes work again',
        });
        await writer.writeMany(numbers.writes);
        await settled('etcd was killed');

        proxy.silence(true);
        await writer.writeMany(numbers.writes);
        proxy.silence(false);
        await settled('nothing passed for a while');

        cluster.apiServer.pause();
        setTimeout(() => cluster.apiServer.resume(), timing.inactivity + 500);
        await writer.writeMany(numbers.writes);
        await settled('the API server was paused');

        proxy.slow(30);
        await writer.writeMany(numbers.writes);
        await settled('the network was slow');
        proxy.slow(0);
      }
    });
  });
}
