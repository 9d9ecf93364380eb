import { setTimeout as sleep } from 'node:timers/promises';
import { mergeObject } from '@haptic/kube';
import { until } from '../../haproxy/until.ts';
import { withTooManyRequests } from '../chaos/too-many-requests.ts';
import { configKey } from './publishing.ts';
import type { Disturbed } from './disturbed.ts';

/** Does its harm to somebody who hears nothing, tells what is desired, and mends it. */
type Fault = (scene: Disturbed, random: () => number) => Promise<void>;

const DEADLINE = { deadlineMs: 90_000 };
/** So many changes are in a round. */
const CHANGES = 12;
/** For a request to be carried out whose answer nobody gets; where it is not, the request is lost. */
const CARRIED_OUT_MS = 150;

export const faults: Readonly<Record<string, Fault>> = {
  async 'the API server is not there at first'(scene) {
    const { cluster, way } = scene;
    await cluster.apiServer.kill();
    way.proxy.refuse(false);
    scene.tell();
    await untilFailed(scene, 15);
    await cluster.startApiServer();
  },

  async 'the API server is killed in the middle'(scene, random) {
    const { cluster, way } = scene;
    const killed = atChange(scene, random, () => cluster.apiServer.kill());
    way.proxy.refuse(false);
    scene.tell();
    await killed;
    await untilFailed(scene, 8);
    await cluster.startApiServer();
  },

  async 'the API server and etcd are killed in the middle'(scene, random) {
    const { cluster, way } = scene;
    const killed = atChange(scene, random, async () => {
      await Promise.all([cluster.etcd.program.kill(), cluster.apiServer.kill()]);
    });
    way.proxy.refuse(false);
    scene.tell();
    await killed;
    await cluster.startEtcd();
    await cluster.startApiServer();
  },

  async 'the connection is cut with each change on it'(scene) {
    const { way } = scene;
    const cut = new Set<string>();
    way.sent.onWrite = {
      written(what) {
        if (cut.has(what)) return;
        cut.add(what);
        way.proxy.cut();
      },
    };
    way.proxy.refuse(false);
    scene.tell();
    await until(() => cut.size >= CHANGES, { ...DEADLINE, what: 'every change was cut' });
  },

  async 'the answer to each change is lost'(scene) {
    const { way } = scene;
    const lost = new Set<string>();
    let losing: Promise<void> | undefined;
    const lose = async (): Promise<void> => {
      way.proxy.holdAnswers(true);
      await sleep(CARRIED_OUT_MS);
      way.proxy.cut();
      way.proxy.holdAnswers(false);
      losing = undefined;
    };
    way.sent.onWrite = {
      begun(what) {
        if (lost.has(what)) return;
        lost.add(what);
        losing ??= lose();
      },
    };
    way.proxy.refuse(false);
    scene.tell();
    await until(() => lost.size >= CHANGES && losing === undefined, {
      ...DEADLINE,
      what: 'the answer to every change was lost',
    });
  },

  async 'the API server has too many requests'(scene) {
    const { cluster, namespace, way } = scene;
    await withTooManyRequests(cluster.access, namespace, async () => {
      way.proxy.refuse(false);
      scene.tell();
      const before = way.sent.answers.get(429) ?? 0;
      await until(() => (way.sent.answers.get(429) ?? 0) - before >= 10, {
        ...DEADLINE,
        what: 'answers say 429',
      });
    });
  },

  async 'history is forgotten'(scene) {
    const { cluster, namespace, way } = scene;
    scene.tell();
    const options = { fieldManager: 'user' };
    for (let time = 0; time < 5; time += 1) {
      const metadata = { annotations: { time: `${scene.round}-${time}` } };
      await mergeObject(cluster.access.api, configKey(namespace), { metadata }, options);
    }
    await cluster.etcd.compact();
    way.proxy.refuse(false);
  },
};

/** When one of the changes is on its way, whichever. */
async function atChange({ way }: Disturbed, random: () => number, harm: () => Promise<void>): Promise<void> {
  let left = 1 + Math.floor(random() * (CHANGES - 2));
  const reached = Promise.withResolvers<void>();
  way.sent.onWrite = {
    written() {
      left -= 1;
      if (left === 0) reached.resolve();
    },
  };
  await reached.promise;
  await harm();
}

async function untilFailed({ way: { sent } }: Disturbed, count: number): Promise<void> {
  const before = sent.failed;
  await until(() => sent.failed - before >= count, { ...DEADLINE, what: 'requests have failed' });
}
