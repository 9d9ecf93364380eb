import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../haproxy/until.ts';
import { leaseMs } from './config-sets.ts';
import type { Replica, Scene } from './scene.ts';
import { withTooManyRequests } from './too-many-requests.ts';

/** Longer than anybody's patience. */
const LONG_MS = leaseMs + 1_500;
const HOUR_MS = 3_600_000;

/** Does its harm, and mends it; `write` is called once, in the middle of it, and what it wrote is served by and by. */
type Fault = (scene: Scene, write: () => Promise<void>) => Promise<void>;

export const faults: Readonly<Record<string, Fault>> = {
  async 'the API server is killed'({ cluster }, write) {
    await cluster.apiServer.kill();
    await sleep(LONG_MS);
    await cluster.startApiServer();
    await write();
  },

  async 'the API server and etcd are killed'({ cluster }, write) {
    await write();
    await cluster.apiServer.kill();
    await cluster.etcd.program.kill();
    await cluster.startEtcd();
    await cluster.startApiServer();
  },

  async 'the API server stands still'({ cluster }, write) {
    await write();
    cluster.apiServer.pause();
    await sleep(LONG_MS);
    cluster.apiServer.resume();
  },

  async 'history is forgotten while nobody watches'({ cluster, replicas }, write) {
    await isolated(replicas, async () => {
      await write();
      await cluster.etcd.compact();
    });
  },

  async 'every connection is cut'({ replicas }, write) {
    const cutting = [...replicas];
    for (const { proxy } of cutting) proxy.cut();
    await write();
    for (const { proxy } of cutting) proxy.cut();
  },

  async 'nothing passes between the leader and the API server'(scene, write) {
    const { proxy } = await scene.leader();
    const before = scene.highestEpoch;
    proxy.silence(true);
    await write();
    if (scene.replicas.length > 1) await scene.untilNewTerm(before);
    else await sleep(LONG_MS);
    proxy.silence(false);
  },

  async 'answers are slow'({ replicas }, write) {
    for (const { proxy } of replicas) proxy.slow(250);
    await write();
    await sleep(LONG_MS);
    for (const { proxy } of replicas) proxy.slow(0);
  },

  async 'the API server has too many requests'(scene, write) {
    await withTooManyRequests(scene.cluster.access, scene.world.namespace, async () => {
      for (const { proxy } of scene.replicas) proxy.cut();
      await write();
      await sleep(LONG_MS);
    });
  },

  async 'the leader stands still for long'(scene, write) {
    const { pid } = (await scene.leader()).controller;
    process.kill(pid, 'SIGSTOP');
    await write();
    await sleep(LONG_MS);
    process.kill(pid, 'SIGCONT');
  },

  async 'everybody stands still'({ replicas }, write) {
    const pids = replicas.map(({ controller }) => controller.pid);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await write();
    await sleep(LONG_MS);
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  },

  async 'the wall clock of the leader is set forward'(scene, write) {
    await clockStepped(await scene.leader(), HOUR_MS, write);
  },

  async 'the wall clock of the leader is set back'(scene, write) {
    await clockStepped(await scene.leader(), -HOUR_MS, write);
  },

  async 'the Lease is stolen in the middle of an apply'(scene, write) {
    await amidApply(scene, write, () => scene.hand.holder('thief'));
  },

  async 'the Lease is deleted in the middle of an apply'(scene, write) {
    await amidApply(scene, write, () => scene.hand.delete());
  },

  async 'an old Lease is restored in the middle of an apply'(scene, write) {
    await amidApply(scene, write, () => scene.hand.restore());
  },

  async 'the leader is killed, and another one joins'(scene, write) {
    const leader = await scene.leader();
    await scene.remove(leader, 'SIGKILL');
    await write();
    await scene.join();
  },

  async 'the leader hands over, and another one joins'(scene, write) {
    const leader = await scene.leader();
    await write();
    await scene.remove(leader, 'SIGTERM');
    await scene.join();
  },

  async 'a configuration is written object by object'(scene, write) {
    await writeSlowly(scene, scene.nextSet());
    await write();
  },

  async 'a configuration is written while connections are cut'(scene, write) {
    const cut = (): void => {
      for (const { proxy } of scene.replicas) proxy.cut();
    };
    await writeSlowly(scene, scene.nextSet(), cut);
    await write();
  },

  async 'a broken configuration is written, and mended'(scene, write) {
    await writeSlowly(scene, scene.nextSet(true));
    await write();
    await writeSlowly(scene, scene.nextSet());
  },
};

/** In any order, with pauses: what is there in between is no whole. */
async function writeSlowly(
  { world, random }: Scene,
  objects: readonly object[],
  between: () => void = () => undefined,
): Promise<void> {
  const order = objects
    .map((object) => ({ object, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ object }) => object);
  for (const object of order) {
    await world.apply(object);
    between();
    await sleep(random() * 300);
  }
}

async function isolated(replicas: readonly Replica[], work: () => Promise<void>): Promise<void> {
  for (const { proxy } of replicas) {
    proxy.refuse(true);
    proxy.cut();
  }
  await work();
  for (const { proxy } of replicas) proxy.refuse(false);
}

async function clockStepped(replica: Replica, ms: number, work: () => Promise<void>): Promise<void> {
  await replica.stepClock(ms);
  await work();
  await sleep(LONG_MS);
  await replica.stepClock(0);
}

/** An agent stands still with an apply before it, until somebody else has taken office, or the same one anew. */
async function amidApply(
  scene: Scene,
  write: () => Promise<void>,
  meddle: () => Promise<void>,
): Promise<void> {
  const [pod] = scene.pods;
  const leader = await scene.leader();
  // A change of a kind that is new to a leader waits for a look at the first pod's health; of this kind is none afterwards.
  const known = await scene.write();
  await scene.untilServed(known);
  const before = scene.highestEpoch;
  process.kill(pod!.agent.pid, 'SIGSTOP');
  try {
    await write();
    await until(() => leader.relays[0]!.pending > 0, { deadlineMs: 60_000, what: 'an apply is under way' });
    await meddle();
    await Promise.race([scene.untilNewTerm(before), sleep(2 * LONG_MS)]);
  } finally {
    process.kill(pod!.agent.pid, 'SIGCONT');
  }
  await scene.delete(known);
}
