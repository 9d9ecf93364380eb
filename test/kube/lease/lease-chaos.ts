import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withOwnClusters, type TestCluster } from '../../cluster/index.ts';
import { seeded } from '../../haproxy/seeded.ts';
import { Election } from './election.ts';
import { Hand } from './hand.ts';
import { timing } from './timing.ts';

type Fault = (scene: Scene) => Promise<void>;

interface Scene {
  readonly cluster: TestCluster;
  readonly election: Election;
  readonly hand: Hand;
}

/** Longer than anybody's patience. */
const longPause = timing.leaseDuration + 1_000;

const faults: Readonly<Record<string, Fault>> = {
  async 'the leader is killed and another process joins'({ election }) {
    await election.kill(await election.leader());
    await election.join();
  },
  async 'the leader hands over and another process joins'({ election }) {
    await election.leave(await election.leader());
    await election.join();
  },
  async 'the leader stands still for long'({ election }) {
    const leader = await election.leader();
    election.pause(leader);
    await sleep(longPause);
    election.resume(leader);
  },
  async 'the leader stands still for a moment'({ election }) {
    const leader = await election.leader();
    election.pause(leader);
    await sleep(timing.renewDeadline / 2);
    election.resume(leader);
  },
  async 'everybody stands still'({ election }) {
    const all = election.all();
    for (const candidate of all) election.pause(candidate);
    await sleep(longPause);
    for (const candidate of all) election.resume(candidate);
  },
  async 'somebody unknown takes the Lease'({ hand }) {
    await hand.holder('thief');
  },
  async 'the Lease names another candidate'({ election, hand }) {
    const leader = await election.leader();
    const other = election.all().find((candidate) => candidate !== leader);
    await hand.holder(other?.identity ?? 'thief');
  },
  async 'the holder is blanked'({ hand }) {
    await hand.holder('');
  },
  async 'the Lease is deleted'({ hand }) {
    await hand.delete();
  },
  async 'the Lease is deleted while the leader stands still'({ election, hand }) {
    const leader = await election.leader();
    election.pause(leader);
    await hand.delete();
    await sleep(longPause);
    election.resume(leader);
  },
  async 'an old Lease is restored'({ hand }) {
    await hand.restore();
  },
  async 'the API server stands still'({ cluster }) {
    cluster.apiServer.pause();
    await sleep(longPause);
    cluster.apiServer.resume();
  },
};

export interface LeaseNumbers {
  /** Each fault in turn, this often. */
  readonly rounds: number;
}

/** Candidates in processes of their own, since only a process can be made to stand still. */
export function declareLeaseChaos({ rounds }: LeaseNumbers): void {
  withOwnClusters((start) => {
    test.each([2, 3])(
      'of %d candidates one leads, whatever happens',
      async (count) => {
        const cluster = await start({ controllers: false });
        const { name } = await cluster.access.namespace();
        // In a folder that goes also when this process is killed.
        const kubeconfig = join(cluster.folder, 'candidates.kubeconfig');
        const rules = [
          { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
        ];
        await writeFile(kubeconfig, await cluster.access.user({ namespaces: { [name]: rules } }));
        const election = await Election.open(kubeconfig, name);
        const scene = { cluster, election, hand: new Hand(cluster.access.api, name, 'leader') };
        for (let candidate = 0; candidate < count; candidate++) await election.join();
        await election.leader();
        await scene.hand.backUp();
        const seed = Date.now() % 2 ** 31;
        console.log(`seed ${seed}`);
        const random = seeded(seed);
        for (let round = 0; round < rounds; round++) {
          for (const [words, fault] of Object.entries(faults).sort(() => random() - 0.5)) {
            await fault(scene);
            await expect(election.leader(), `somebody leads after: ${words}`).resolves.toBeDefined();
            election.expectOneAtATime();
          }
        }
        expect(election.terms).toBeGreaterThan(5 * rounds);
      },
      rounds * 180_000,
    );
  });
}
