import type { KubeApi } from '@haptic/kube';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubePrograms } from '../../tools/kube/index.ts';
import { freePort } from '../haproxy/free-port.ts';
import { until } from '../haproxy/until.ts';
import { ClusterAccess, type ClusterAddress } from './access.ts';
import { CertificateAuthority, type KeyPair } from './certificates.ts';
import {
  apiServerArgs,
  controllerManagerArgs,
  writeControlPlaneFiles,
  type ControlPlaneFiles,
} from './control-plane.ts';
import { Etcd } from './etcd.ts';
import { Guard } from './guard.ts';
import { kubeconfig } from './kubeconfig.ts';
import { Program } from './program.ts';

export interface ClusterOptions {
  readonly minor: string;
  readonly programs: KubePrograms;
  /** Without it nothing happens by itself: no garbage collection, no service accounts, no endings of namespaces. */
  readonly controllers?: boolean;
  /** More flags of the API server. */
  readonly apiServerFlags?: readonly string[];
}

const READY_MS = 60_000;

/** A Kubernetes control plane on free ports of the loopback address: etcd, API server, controller manager. No nodes. */
export class TestCluster implements AsyncDisposable {
  readonly address: ClusterAddress;
  readonly access: ClusterAccess;
  readonly etcd: Etcd;
  readonly apiServer: Program;
  readonly apiServerPort: number;
  readonly #controllers: Controllers | undefined;
  /** Logs, keys and data; gone with the cluster. */
  readonly folder: string;
  readonly #guard: Guard;

  private constructor(parts: ClusterParts) {
    this.address = parts.address;
    this.access = parts.access;
    this.etcd = parts.etcd;
    this.apiServer = parts.apiServer;
    this.#controllers = parts.controllers;
    this.apiServerPort = parts.apiServerPort;
    this.folder = parts.folder;
    this.#guard = parts.guard;
  }

  /** @throws Error with the last words of the program that did not come up. */
  static async start(options: ClusterOptions): Promise<TestCluster> {
    const cluster = new TestCluster(await prepare(options));
    try {
      await cluster.startEtcd();
      await cluster.startApiServer();
      await cluster.#startControllerManager();
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts the API server (again) and waits until it is ready. */
  async startApiServer(): Promise<void> {
    await this.apiServer.start();
    await this.#ready('kube-apiserver', this.apiServer, () => isReady(this.access.api, '/readyz'));
  }

  async startEtcd(): Promise<void> {
    await this.etcd.program.start();
    await this.#ready('etcd', this.etcd.program, () => this.etcd.ready());
  }

  async #startControllerManager(): Promise<void> {
    const manager = this.#controllers;
    if (manager === undefined) return;
    await manager.program.start();
    const access = await this.access.via(manager.server);
    await this.#ready('kube-controller-manager', manager.program, () => isReady(access.api, '/healthz'));
    await access.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.access.close();
    await this.#controllers?.program.kill();
    // Nothing here outlives the cluster, so nothing needs to be saved.
    await this.apiServer.kill();
    await this.etcd.program.kill();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
    this.#guard.dismiss();
  }

  async #ready(name: string, program: Program, ready: () => Promise<boolean>): Promise<void> {
    try {
      const over = async (): Promise<boolean> => !program.running || (await ready());
      await until(over, { deadlineMs: READY_MS, what: `${name} is ready` });
      if (!program.running) throw new Error('it has ended');
    } catch (error) {
      throw new Error(`${name} did not get ready:\n${await program.lastWords()}`, { cause: error });
    }
  }
}

interface Controllers {
  readonly program: Program;
  readonly server: string;
}

interface ClusterParts {
  readonly address: ClusterAddress;
  readonly access: ClusterAccess;
  readonly etcd: Etcd;
  readonly apiServer: Program;
  readonly controllers: Controllers | undefined;
  readonly apiServerPort: number;
  readonly folder: string;
  readonly guard: Guard;
}

async function prepare(options: ClusterOptions): Promise<ClusterParts> {
  const { minor, programs } = options;
  const folder = await mkdtemp(join(tmpdir(), 'haptic-cluster-'));
  const guard = new Guard();
  guard.folder(folder);
  const authority = await CertificateAuthority.create('haptic-test');
  const apiServerPort = await freePort();
  const server = `https://127.0.0.1:${apiServerPort}`;
  const config = (user: KeyPair): string => kubeconfig(server, authority.pair.cert, user);
  const files = await writeControlPlaneFiles(folder, authority, config);
  const etcd = new Etcd({
    binary: programs.etcd,
    folder,
    clientPort: await freePort(),
    peerPort: await freePort(),
    guard,
  });
  const args = apiServerArgs(apiServerPort, etcd.url, files, options.apiServerFlags ?? []);
  const logFile = join(folder, 'kube-apiserver.log');
  const apiServer = new Program({ binary: programs['kube-apiserver'], args, logFile, guard });
  const controllers =
    options.controllers === false ? undefined : await controllerManager(programs, folder, files, guard);
  const address = { server, ca: authority.pair, minor };
  const access = await ClusterAccess.open(address);
  return { address, access, etcd, apiServer, controllers, apiServerPort, folder, guard };
}

async function controllerManager(
  programs: KubePrograms,
  folder: string,
  files: ControlPlaneFiles,
  guard: Guard,
): Promise<Controllers> {
  const port = await freePort();
  const args = controllerManagerArgs(port, files);
  const logFile = join(folder, 'kube-controller-manager.log');
  const program = new Program({ binary: programs['kube-controller-manager'], args, logFile, guard });
  return { program, server: `https://127.0.0.1:${port}` };
}

async function isReady(api: KubeApi, path: string): Promise<boolean> {
  const body = await api.stream({ path, timeout: 2_000 });
  // The head has said it; that the server may go before its last words are here is no failure.
  body.on('error', () => undefined).destroy();
  return true;
}
