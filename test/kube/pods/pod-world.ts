import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentState } from '@haptic/agent/protocol';
import type { KubePrograms } from '../../../tools/kube/index.ts';
import { AGENT, CONTROLLER, MountedSecret, tlsContents, type TlsContents } from '../../agent/tls-secret.ts';
import { ask } from '../../agent/tls-agent.ts';
import { CertificateAuthority } from '../../cluster/certificates.ts';
import { TestNetwork, type ClusterAccess } from '../../cluster/index.ts';
import { place, root, start, untilServing, type Running } from '../../e2e/haptic-process.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { freePort } from '../../haproxy/free-port.ts';
import { runtimeCommand } from '../../haproxy/runtime-command.ts';
import { until } from '../../haproxy/until.ts';
import { World, type Controller } from '../e2e/world.ts';

export const LABELS = { 'app.kubernetes.io/name': 'haproxy' };

/** Generous: the machine may do much else. */
const DEADLINE = { deadlineMs: 90_000 };

/** Every pod has a network of its own, so all listen at the same ports. */
export const HTTP_PORT = 8_080;

/** A HAProxy and its agent, in a network of their own. */
export interface Machine {
  readonly address: string;
  readonly haproxy: Running;
  agent: Running;
  state(): Promise<AgentState>;
  killAgent(): Promise<void>;
  startAgent(): Promise<void>;
  /** Kills the agent, and starts another. */
  restartAgent(): Promise<void>;
  /** Addresses of the servers that its HAProxy runs. */
  servers(): Promise<readonly string[]>;
}

/** An installation whose HAProxy pods are found: there is no kubelet, so its Pod objects are written by the test. */
export class PodWorld {
  readonly world: World;
  readonly cluster: ClusterAccess;
  readonly #port: number;
  readonly #authority: CertificateAuthority;
  readonly #controller: TlsContents;
  readonly #controllerFiles: TlsContents;
  readonly #mountPoint: string;

  private constructor(
    world: World,
    cluster: ClusterAccess,
    port: number,
    authority: CertificateAuthority,
    controller: { readonly contents: TlsContents; readonly files: TlsContents },
  ) {
    this.world = world;
    this.cluster = cluster;
    this.#port = port;
    this.#mountPoint = join(world.at.dir, 'pod');
    this.#authority = authority;
    this.#controller = controller.contents;
    this.#controllerFiles = controller.files;
  }

  static async open(
    cluster: ClusterAccess,
    programs: KubePrograms,
    namespace: string,
    spec: object = {},
  ): Promise<PodWorld> {
    const world = await World.open(cluster, programs.kubectl, namespace);
    const port = await freePort();
    const authority = await CertificateAuthority.create('agents');
    const contents = await tlsContents(authority, CONTROLLER);
    const { files } = await MountedSecret.create(contents);
    await mkdir(join(world.at.dir, 'pod'));
    await world.install({ listeners: { i80: { bind: `0.0.0.0:${HTTP_PORT}` } } });
    const patch = { spec: { podSelector: { matchLabels: LABELS }, agent: { port }, ...spec } };
    await world.kubectlRun(['patch', 'htplcfg', 'haptic', '--type=merge', '-p', JSON.stringify(patch)]);
    return new PodWorld(world, cluster, port, authority, { contents, files });
  }

  startController(haproxy: string, args: readonly string[] = []): Promise<Controller> {
    const deployAgent = { mode: 'discover', tls: this.#controllerFiles };
    return this.world.startController([], { haproxy, deployAgent, args });
  }

  async startMachine(haproxyBinary: string): Promise<Machine> {
    const network = await TestNetwork.open(1);
    onCleanup(() => network[Symbol.asyncDispose]());
    const [address = ''] = network.addresses;
    const { dir } = await place();
    const inside = new Container(network, dir, this.#mountPoint);
    const folders = [`--base-dir=${this.#mountPoint}/base`, `--socket-dir=${this.#mountPoint}/run`];
    const { files } = await MountedSecret.create(await tlsContents(this.#authority, AGENT));
    const haproxy = await inside.run(['haproxy', ...folders, `--haproxy=${haproxyBinary}`, '--drain=0s']);
    onCleanup(async () => {
      process.kill(haproxy.pid, 'SIGTERM');
      await haproxy.ended;
    });
    const startAgent = (): Promise<Running> =>
      inside.run([
        'agent',
        ...folders,
        `--listen=${address}:${this.#port}`,
        `--tls-cert=${files.cert}`,
        `--tls-key=${files.key}`,
        `--tls-ca=${files.ca}`,
        '--reload-interval-min=0s',
      ]);
    const state = async (): Promise<AgentState> =>
      (await ask(this.#port, { ...this.#controller, host: address }, 'plan=0&files=0')).state;
    await untilServing(haproxy, () => `${haproxy.stderr()}${haproxy.stdout()}`.includes('HAProxy serves'));
    const machine: Machine = {
      address,
      haproxy,
      agent: await startAgent(),
      state,
      async killAgent() {
        process.kill(machine.agent.pid, 'SIGKILL');
        await machine.agent.ended;
      },
      async startAgent() {
        machine.agent = await startAgent();
      },
      async restartAgent() {
        await machine.killAgent();
        await machine.startAgent();
      },
      servers: async () => {
        const text = await runtimeCommand(join(dir, 'run/worker.sock'), 'show servers state');
        return text
          .split('\n')
          .filter((line) => /^\d+ /.test(line))
          .map((line) => line.split(' ')[4]!);
      },
    };
    await until(state, { ...DEADLINE, what: `the agent at ${address} answers` });
    return machine;
  }

  /** Writes the object of a pod that runs on this machine; its uid. */
  async createPod(
    name: string,
    machine: Machine,
    { labels = LABELS, namespace = this.world.namespace }: { labels?: object; namespace?: string } = {},
  ): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels },
      spec: {
        // A pod that is on a node is not gone at once when it is deleted: its kubelet has the last word.
        nodeName: 'nowhere',
        automountServiceAccountToken: false,
        containers: [{ name: 'haproxy', image: 'none' }],
      },
    };
    const { metadata } = (await this.cluster.api.json({ method: 'POST', path, body })) as {
      metadata: { uid: string };
    };
    await this.setStatus(name, machine, { namespace });
    return metadata.uid;
  }

  async setStatus(
    name: string,
    { address }: Machine,
    { phase = 'Running', namespace = this.world.namespace }: { phase?: string; namespace?: string } = {},
  ): Promise<void> {
    await this.cluster.api.json({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}/pods/${name}/status`,
      contentType: 'application/merge-patch+json',
      body: {
        status: {
          phase,
          podIP: address,
          podIPs: [{ ip: address }],
          conditions: [{ type: 'Ready', status: phase === 'Running' ? 'True' : 'False' }],
        },
      },
    });
  }

  /** `gone`: without the time to stop that it would have. */
  async deletePod(name: string, { gone = true } = {}): Promise<void> {
    const grace = gone ? ['--grace-period=0', '--force'] : ['--wait=false', '--grace-period=300'];
    await this.world.kubectlRun(['delete', 'pod', name, ...grace]);
  }

  async label(name: string, ...labels: readonly string[]): Promise<void> {
    await this.world.kubectlRun(['label', 'pod', name, '--overwrite', ...labels]);
  }

  /** Waits until all of these run one plan, which is none of those; its id. */
  async agreed(
    machines: readonly Machine[],
    not: readonly (string | null)[],
    controller?: Controller,
  ): Promise<string> {
    return await this.#untilOne(machines, (id) => !not.includes(id), controller);
  }

  /** Resolves once all run this plan, and their workers are in step with it. */
  async run(plan: string, machines: readonly Machine[], controller: Controller): Promise<void> {
    await this.#untilOne(machines, (id) => id === plan, controller);
  }

  async #untilOne(
    machines: readonly Machine[],
    isWanted: (plan: string) => boolean,
    controller: Controller | undefined,
  ): Promise<string> {
    const agree = async (): Promise<string | undefined> => {
      const states = await Promise.all(machines.map((machine) => machine.state()));
      const ids = states.map(({ applied, inStep }) => (inStep ? applied : undefined));
      const [first] = ids;
      const isOne = first != null && isWanted(first) && ids.every((id) => id === first);
      if (!isOne) throw new Error(`they run ${ids.join(', ')}`);
      return first;
    };
    return await until(agree, { ...DEADLINE, what: 'the pods run one plan' }).catch((error: Error) => {
      const log = controller?.stdout().split('\n').slice(-40).join('\n');
      const pods = machines.map(
        ({ haproxy, agent }) => `${haproxy.stdout()}${haproxy.stderr()}\n${agent.stdout()}${agent.stderr()}`,
      );
      throw new Error(`${error.message}\n${pods.join('\n---\n')}\n${log}\n${controller?.stderr()}`, {
        cause: error,
      });
    });
  }
}

/** Programs that share a network, and a folder at the path that it has in every pod. */
class Container {
  readonly #network: TestNetwork;
  readonly #dir: string;
  readonly #mountPoint: string;

  constructor(network: TestNetwork, dir: string, mountPoint: string) {
    this.#network = network;
    this.#dir = dir;
    this.#mountPoint = mountPoint;
  }

  async run(args: readonly string[]): Promise<Running> {
    const haptic = [process.execPath, '--conditions=source', join(root, 'cli/bin/haptic.mjs'), ...args];
    const mounting = ['--mount', 'sh', '-c', 'mount --bind "$0" "$1" && shift && exec "$@"'];
    const words = [...mounting, this.#dir, this.#mountPoint, ...haptic];
    const [program, all] = this.#network.inside('unshare', words);
    return start(program, all, await place());
  }
}
