import { join } from 'node:path';
import { createObject, deleteObject } from '@haptic/kube';
import type { AgentState } from '@haptic/agent/protocol';
import { expect } from 'vitest';
import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { kubePrograms } from '../../../tools/kube/index.ts';
import { ChaosProxy, ClusterAccess, currentMinor, type TestCluster } from '../../cluster/index.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { until } from '../../haproxy/until.ts';
import { agentState } from '../e2e/agent-state.ts';
import { ingress, ingressClass, service, slice } from '../e2e/objects.ts';
import { startOrigins } from '../e2e/origins.ts';
import { World, type Controller, type HaproxyPod } from '../e2e/world.ts';
import { Hand } from '../lease/hand.ts';
import { AgentRelay } from './agent-relay.ts';
import { configSet } from './config-sets.ts';
import { heapOf, instrumentFlags, stepClock } from './instrumented.ts';
import { Ledger, type Claim } from './ledger.ts';
import { Prober } from './prober.ts';

const ingresses = {
  apiVersion: 'networking.k8s.io/v1',
  resource: 'ingresses',
  kind: 'Ingress',
  namespaced: true,
} as const;

const STEADY = 'steady.test';
/** For what takes seconds on a quiet machine. */
const PATIENCE_MS = 90_000;
/** Pods share a port, and the kernel chooses which of them answers. */
const ASKED_OF_ALL = 12;

/** A controller with its own ways to everything, each of which can be cut alone. */
export interface Replica {
  readonly name: string;
  readonly controller: Controller;
  /** To the API server. */
  readonly proxy: ChaosProxy;
  readonly relays: readonly AgentRelay[];
  /** Bytes in use when all garbage is gone. */
  heap(): Promise<number>;
  stepClock(ms: number): Promise<void>;
}

/** An installation under faults: a cluster of its own, two HAProxy pods, controllers behind proxies, and who watches them all. */
export class Scene {
  readonly cluster: TestCluster;
  readonly world: World;
  readonly pods: readonly HaproxyPod[];
  readonly hand: Hand;
  readonly ledger = new Ledger();
  readonly random: () => number;
  readonly #haproxy: string;
  readonly #address: string;
  readonly #replicas: Replica[] = [];
  readonly #claims: Claim[] = [];
  readonly #epochs = new Map<string, number>();
  #started = 0;
  #hosts = 0;
  #set = 0;

  private constructor(
    parts: Pick<Scene, 'cluster' | 'world' | 'pods' | 'random'> & { haproxy: string; address: string },
  ) {
    this.cluster = parts.cluster;
    this.world = parts.world;
    this.pods = parts.pods;
    this.random = parts.random;
    this.#haproxy = parts.haproxy;
    this.#address = parts.address;
    this.hand = new Hand(parts.cluster.access.api, parts.world.namespace, 'haptic-leader');
  }

  /** Everything serves when it resolves. */
  static async open(cluster: TestCluster, replicas: number, random: () => number): Promise<Scene> {
    const [{ kubectl }, haproxy] = await Promise.all([kubePrograms(currentMinor), haproxyBinary('3.4')]);
    const { name } = await cluster.access.namespace();
    const world = await World.open(cluster.access, kubectl, name);
    const { addresses, port } = await startOrigins(1);
    const [address = ''] = addresses;
    await world.install({}, 'all');
    await world.apply(ingressClass, service('app'), slice('app', [address], port));
    await world.apply(ingress('steady', STEADY, 'app'));
    const ofSeveral = true;
    const pods = [
      await world.startPod('haproxy-0', haproxy, { ofSeveral }),
      await world.startPod('haproxy-1', haproxy, { ofSeveral }),
    ];
    const scene = new Scene({ cluster, world, pods, random, haproxy, address });
    for (const object of scene.nextSet()) await world.apply(object);
    for (let replica = 0; replica < replicas; replica += 1) await scene.join();
    await scene.untilServed(STEADY);
    // One that has no plan yet does not listen, so nobody asks it.
    await scene.untilAgreed();
    await scene.hand.backUp();
    return scene;
  }

  /** Those that live. */
  get replicas(): readonly Replica[] {
    return this.#replicas;
  }

  async join(): Promise<Replica> {
    const name = `controller-${(this.#started += 1)}`;
    const { world, cluster, pods } = this;
    const proxy = await ChaosProxy.start(cluster.apiServerPort);
    onCleanup(() => proxy.stop());
    const through = await ClusterAccess.open({
      ...cluster.address,
      server: `https://127.0.0.1:${proxy.port}`,
    });
    const kubeconfig = await world.controllerKubeconfig(undefined, through);
    await through.close();
    const relays = await Promise.all(
      pods.map((pod) =>
        AgentRelay.open(
          { socketPath: join(world.at.dir, `${name}.${pod.name}`), agent: pod.socketPath },
          { controller: name, pod: pod.name },
          this.ledger.note,
        ),
      ),
    );
    const reached = pods.map((pod, index) => ({ ...pod, socketPath: relays[index]!.socketPath }));
    const instrument = join(world.at.dir, `${name}.instrument`);
    const controller = await world.startController(reached, {
      haproxy: this.#haproxy,
      kubeconfig,
      nodeArgs: instrumentFlags(instrument),
    });
    // From then on the next one may have a host configuration of its own.
    await controller.untilLogged('answers probes');
    const replica = {
      name,
      controller,
      proxy,
      relays,
      heap: () => heapOf(instrument),
      stepClock: (ms: number) => stepClock(instrument, ms),
    };
    this.#replicas.push(replica);
    return replica;
  }

  /** It is no more; what it said stays known. */
  async remove(replica: Replica, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    process.kill(replica.controller.pid, signal);
    await replica.controller.ended;
    this.#claims.push(...claimsOf(replica));
    this.#replicas.splice(this.#replicas.indexOf(replica), 1);
  }

  /** Every term that somebody has begun. */
  get claims(): readonly Claim[] {
    return [...this.#claims, ...this.#replicas.flatMap((replica) => claimsOf(replica))];
  }

  get highestEpoch(): number {
    return Math.max(0, ...this.claims.map(({ epoch }) => epoch));
  }

  /** The living one that began the last term. */
  async leader(): Promise<Replica> {
    return await until(
      () => {
        const last = this.claims.toSorted((a, b) => b.epoch - a.epoch)[0]?.controller;
        return this.#replicas.find(({ name }) => name === last);
      },
      { deadlineMs: PATIENCE_MS, what: 'somebody leads' },
    );
  }

  async untilNewTerm(after: number): Promise<void> {
    await until(() => this.highestEpoch > after, { deadlineMs: PATIENCE_MS, what: 'a new term' });
  }

  /** Writes an Ingress, which is to be served by and by; its host. */
  async write(): Promise<string> {
    const name = `site-${(this.#hosts += 1)}`;
    const host = `${name}.test`;
    const { metadata: _, ...rest } = ingress(name, host, 'app') as { metadata: object };
    const object = { ...rest, metadata: { name, namespace: this.world.namespace } };
    await createObject(this.cluster.access.api, ingresses, object);
    return host;
  }

  async delete(host: string): Promise<void> {
    const [name = ''] = host.split('.');
    const { namespace } = this.world;
    await deleteObject(this.cluster.access.api, { resource: ingresses, namespace, name });
  }

  untilServed(host: string): Promise<void> {
    return this.#untilAnswered(host, this.#address);
  }

  untilGone(host: string): Promise<void> {
    return this.#untilAnswered(host, 404);
  }

  /** Objects of a configuration that differs from the last in both of its libraries. */
  nextSet(broken = false): readonly object[] {
    const { namespace, port } = this.world;
    // As a range nobody tries it before: pods of a cluster have addresses of their own, ours share one.
    const settings = { listeners: { i80: { bind: `127.0.0.1:${port}-${port}` } } };
    return configSet(namespace, { number: (this.#set += 1), settings, broken });
  }

  /** The number of the last set. */
  get set(): string {
    return String(this.#set);
  }

  /** A client that asks until the test ends. */
  probe(): Prober {
    const prober = new Prober(this.world.port, STEADY);
    onCleanup(() => prober.stop());
    return prober;
  }

  /** What holds whenever nobody writes: whole trees, nothing from who does not lead, and fences that only rise. */
  async expectConsistent(): Promise<void> {
    for (const { pod, state } of await this.untilAgreed()) {
      expect(state.drift, `files of ${pod.name} that are not what was applied`).toEqual([]);
      expect(this.ledger.plansOf(pod.name)).toContain(state.applied);
      const epoch = state.token?.epoch ?? 0;
      expect(epoch).toBeGreaterThanOrEqual(this.#epochs.get(pod.name) ?? 0);
      this.#epochs.set(pod.name, epoch);
    }
    this.ledger.expectNoStaleWrite(
      this.pods.map(({ name }) => name),
      this.claims,
    );
  }

  /** Waits until all pods run one plan; what their agents say then. */
  async untilAgreed(): Promise<readonly { readonly pod: HaproxyPod; readonly state: AgentState }[]> {
    return await until(
      async () => {
        const told = await Promise.all(
          this.pods.map(async (pod) => ({ pod, state: await agentState(pod, { verify: true }) })),
        );
        const plan = told[0]?.state.applied ?? null;
        const isSettled = ({ applied, inStep, pendingReload }: AgentState): boolean =>
          plan !== null && applied === plan && inStep && pendingReload === null;
        return told.every(({ state }) => isSettled(state)) && told;
      },
      { deadlineMs: PATIENCE_MS, what: 'all pods run one plan' },
    );
  }

  /** What everybody said, for who has to find out why. */
  words(): string {
    const programs = [
      ...this.#replicas.map(({ name, controller }) => [name, controller] as const),
      ...this.pods.flatMap(({ name, agent, haproxy }) => [
        [`${name} agent`, agent] as const,
        [name, haproxy] as const,
      ]),
    ];
    return programs.map(([name, running]) => `${name}:\n${running.stdout()}\n${running.stderr()}`).join('\n');
  }

  async #untilAnswered(host: string, wanted: string | number): Promise<void> {
    const [pod] = this.pods;
    await until(
      async () => {
        for (let asked = 0; asked < ASKED_OF_ALL; asked += 1) {
          const answer = await this.world.answer(pod!, host);
          if (answer !== wanted) throw new Error(`it answers ${answer}`);
        }
        return true;
      },
      { deadlineMs: PATIENCE_MS, what: `${host} answers ${wanted}` },
    );
  }
}

function claimsOf({ name, controller }: Replica): readonly Claim[] {
  return controller
    .log()
    .filter(({ msg }) => msg === 'this process leads')
    .map(({ epoch }) => ({ controller: name, epoch: Number(epoch) }));
}
