import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { definePlugin, POD_DISCOVERY, z, type FoundPod } from '@haptic/core/contract';
import type { AgentState } from '@haptic/agent/protocol';
import { CertificateAuthority } from '../cluster/certificates.ts';
import { place, root, start, type Running } from '../e2e/haptic-process.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { freePort } from '../haproxy/free-port.ts';
import { noProcesses, processesIn } from '../haproxy/processes.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';
import { Pod } from './pod.ts';
import { ask } from './tls-agent.ts';
import { AGENT, CONTROLLER, MountedSecret, tlsContents, type TlsContents } from './tls-secret.ts';

/** A HAProxy, and the agent beside it as the program that users start. */
export interface AgentPod {
  readonly name: string;
  readonly address: string;
  readonly pod: Pod;
  /** The one that runs now. */
  readonly agent: () => Running;
  readonly state: () => Promise<AgentState>;
  killAgent(): Promise<void>;
  /** Another one on the same folders. */
  startAgent(): Promise<void>;
}

/** Why there can be none here; undefined where there can. */
export function whyNoFoundPods(): string | undefined {
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `(no mount namespaces: ${(error as Error).message.split('\n')[0]})`;
  }
}

/** Pods at addresses of their own, whose files have the same paths in all of them, with TLS as in a cluster; a test says which are found. */
export class FoundPods {
  /** What finds them, in a controller. */
  readonly plugin = definePlugin({
    name: 'found-pods',
    apiVersion: 1,
    options: z.strictObject({}),
    setup: ({ provide }) => {
      provide(POD_DISCOVERY, {
        follow: (listener) => {
          this.#listeners.add(listener);
          listener(this.found);
          return () => void this.#listeners.delete(listener);
        },
      });
    },
  });
  readonly port: number;
  /** Where each pod has its own files. */
  readonly #view: string;
  readonly #authority: CertificateAuthority;
  readonly #controller: TlsContents;
  readonly #controllerFiles: TlsContents;
  readonly #listeners = new Set<(pods: readonly FoundPod[]) => void>();
  readonly #found = new Map<string, FoundPod>();
  /** Of loopback, and nobody else's. */
  readonly #network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  #addresses = 0;
  #uids = 0;

  private constructor(
    port: number,
    view: string,
    authority: CertificateAuthority,
    controller: { readonly contents: TlsContents; readonly files: TlsContents },
  ) {
    this.port = port;
    this.#view = view;
    this.#authority = authority;
    this.#controller = controller.contents;
    this.#controllerFiles = controller.files;
  }

  static async open(): Promise<FoundPods> {
    const authority = await CertificateAuthority.create('agents');
    const contents = await tlsContents(authority, CONTROLLER);
    const { files } = await MountedSecret.create(contents);
    const view = join(await tempDir(), 'pod');
    await mkdir(view);
    // A HAProxy whose supervisor was killed goes on.
    onCleanup(async () => {
      for (const line of await processesIn(view)) process.kill(Number.parseInt(line, 10), 'SIGKILL');
      await noProcesses(view);
    });
    return new FoundPods(await freePort(), view, authority, { contents, files });
  }

  get found(): readonly FoundPod[] {
    return [...this.#found.values()];
  }

  /** Of `deploy-agent`; the port is the configuration's. */
  get options(): object {
    return { mode: 'discover', tls: this.#controllerFiles };
  }

  async stateOf(address: string): Promise<AgentState> {
    const { status, state } = await ask(
      this.port,
      { ...this.#controller, host: address, timeout: 5_000 },
      'plan=0&files=0',
    );
    if (status !== 200) throw new Error(`state: ${status}`);
    return state;
  }

  /** For an agent: an address that no other has, and what it shows to controllers. */
  async newPlace(): Promise<{ readonly address: string; readonly tls: TlsContents }> {
    const { files } = await MountedSecret.create(await tlsContents(this.#authority, AGENT));
    this.#addresses += 1;
    return { address: `${this.#network}.${this.#addresses}`, tls: files };
  }

  /** Starts HAProxy and its agent; it is found when a test says so. */
  async start(name: string, binary: string): Promise<AgentPod> {
    const { address, tls } = await this.newPlace();
    const pod = await Pod.create(binary);
    const folders = { 'base-dir': `${this.#view}/base`, 'socket-dir': `${this.#view}/run` };
    const mounting = [
      '--mount',
      'sh',
      '-c',
      'mount --bind "$0" "$1" && shift && exec "$@"',
      pod.dir,
      this.#view,
    ];
    // One render is for all pods, and each has its own ports.
    const places = ['env', `SITE_PORT=${pod.port}`, `SITE_WORKER=${this.#view}/run/worker.sock`];
    pod.launcher = ['unshare', ...mounting, ...places];
    await pod.startHaproxy(folders);
    const startAgent = async (): Promise<Running> => {
      const flags = {
        ...folders,
        listen: `${address}:${this.port}`,
        'tls-cert': tls.cert,
        'tls-key': tls.key,
        'tls-ca': tls.ca,
        'reload-interval-min': '0s',
      };
      const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
      const program = [process.execPath, '--conditions=source', join(root, 'cli/bin/haptic.mjs'), 'agent'];
      const running = start('unshare', [...mounting, ...program, ...args], await place());
      const what = `the agent of ${name} answers`;
      await until(() => this.stateOf(address), { deadlineMs: 30_000, what }).catch((error: Error) => {
        throw new Error(`${error.message}\n${running.stdout()}${running.stderr()}`, { cause: error });
      });
      return running;
    };
    let agent = await startAgent();
    return {
      name,
      address,
      pod,
      agent: () => agent,
      state: () => this.stateOf(address),
      killAgent: async () => {
        process.kill(agent.pid, 'SIGKILL');
        await agent.ended;
      },
      startAgent: async () => void (agent = await startAgent()),
    };
  }

  /** They are there from now on, each as a new pod. */
  enter(...pods: readonly Pick<AgentPod, 'name' | 'address'>[]): void {
    for (const { name, address } of pods) {
      this.#uids += 1;
      this.#found.set(name, { uid: `uid-${this.#uids}`, name, address, stops: false });
    }
    this.#tell();
  }

  leave(...pods: readonly Pick<AgentPod, 'name'>[]): void {
    for (const { name } of pods) this.#found.delete(name);
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener(this.found);
  }
}
