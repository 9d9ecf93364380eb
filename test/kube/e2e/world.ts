import { execa } from 'execa';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ClusterAccess } from '../../cluster/index.ts';
import {
  place,
  root,
  start,
  untilServing,
  type LogLine,
  type Place,
  type Running,
} from '../../e2e/haptic-process.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { freePort } from '../../haproxy/free-port.ts';
import { request } from '../../haproxy/raw-request.ts';
import { until } from '../../haproxy/until.ts';
import { controllerRules, type ControllerRules } from '../rbac/controller-rules.ts';
import { installation, type Watched } from './installation.ts';

/** How Node.js runs the program: its sources, or what `npm run build` makes of them, which is what an image starts. */
const programs = {
  sources: ['--conditions=source', join(root, 'cli/bin/haptic.mjs')],
  built: [join(root, 'cli/dist/main.js')],
} as const;

export interface HaproxyPod {
  readonly name: string;
  /** Of its HTTP listener. */
  readonly port: number;
  readonly socketPath: string;
  readonly tokenFile: string;
  readonly agent: Running;
  readonly haproxy: Running;
}

export interface Controller extends Running {
  /** What a page of its health port answers. */
  health(page: '/livez' | '/readyz' | '/build'): Promise<{ readonly status: number; readonly body: string }>;
  log(): readonly LogLine[];
  /** @throws Error with all that it said when it ends before, or takes too long. */
  untilLogged(message: string | RegExp): Promise<void>;
}

/** An installation: a namespace, HAProxy pods, and controllers as they are started. Everything ends with the test. */
export class World {
  readonly cluster: ClusterAccess;
  readonly kubectl: string;
  readonly namespace: string;
  readonly at: Place;
  readonly kubeconfig: string;
  /** One port for every pod: pods of a cluster have addresses of their own, ours share one. */
  readonly port: number;
  #users = 0;

  private constructor(
    parts: Pick<World, 'cluster' | 'kubectl' | 'namespace' | 'at' | 'kubeconfig' | 'port'>,
  ) {
    this.cluster = parts.cluster;
    this.kubectl = parts.kubectl;
    this.namespace = parts.namespace;
    this.at = parts.at;
    this.kubeconfig = parts.kubeconfig;
    this.port = parts.port;
  }

  static async open(cluster: ClusterAccess, kubectl: string, namespace: string): Promise<World> {
    const at = await place();
    const kubeconfig = join(at.dir, 'kubeconfig');
    await writeFile(kubeconfig, cluster.adminKubeconfig);
    return new World({ cluster, kubectl, namespace, at, kubeconfig, port: await freePort() });
  }

  /** kubectl, as a user runs it. */
  async kubectlRun(args: readonly string[], input?: string): Promise<string> {
    const flags = [
      `--kubeconfig=${this.kubeconfig}`,
      `--namespace=${this.namespace}`,
      `--cache-dir=${this.at.dir}/kube-cache`,
    ];
    const { stdout } = await execa(this.kubectl, [...flags, ...args], {
      env: this.at.env,
      extendEnv: false,
      timeout: 60_000,
      ...(input === undefined ? {} : { input }),
    });
    return stdout;
  }

  apply(...objects: readonly object[]): Promise<string> {
    return this.kubectlRun(
      ['apply', '-f', '-'],
      objects.map((object) => stringify(object, { version: '1.1' })).join('---\n'),
    );
  }

  /** The definitions, the libraries and the config. */
  async install(settings: object = {}, watched?: Watched): Promise<void> {
    await this.kubectlRun(['apply', '--server-side', '--force-conflicts', '-f', join(root, 'chart/crds')]);
    await this.kubectlRun([
      'wait',
      '--for=condition=Established',
      '--timeout=60s',
      '-f',
      join(root, 'chart/crds'),
    ]);
    const listeners = { i80: { bind: `127.0.0.1:${this.port}` } };
    await this.apply(...installation(this.namespace, { listeners, ...settings }, watched));
  }

  /**
   * A HAProxy and its agent, as two containers of a pod. One of several has a view of its own of the file system: a plan holds the
   * paths of its files, and these are the same in all pods. That takes root.
   */
  async startPod(name: string, haproxyBinary: string, { ofSeveral = false } = {}): Promise<HaproxyPod> {
    const [dir, tokenFile] = [join(this.at.dir, name), join(this.at.dir, 'token')];
    await writeFile(tokenFile, 'a token that is long enough');
    const seen = ofSeveral ? join(this.at.dir, 'pod') : dir;
    await Promise.all([dir, seen].map((folder) => mkdir(folder, { recursive: true })));
    const mounting = [
      'unshare',
      '--mount',
      'sh',
      '-c',
      'mount --bind "$0" "$1" && shift && exec "$@"',
      dir,
      seen,
    ];
    const launcher = ofSeveral ? mounting : [];
    const folders = [`--base-dir=${join(seen, 'base')}`, `--socket-dir=${join(seen, 'run')}`];
    const socketPath = join(dir, 'run/api.sock');
    const haproxy = await this.#start(['haproxy', ...folders, `--haproxy=${haproxyBinary}`, '--drain=0s'], {
      launcher,
    });
    // Killed, it would leave HAProxy behind, which is to outlive it.
    onCleanup(async () => {
      process.kill(haproxy.pid, 'SIGTERM');
      await haproxy.ended;
    });
    const listen = `--listen=unix:${join(seen, 'run/api.sock')}`;
    const agent = await this.#start(
      ['agent', ...folders, listen, `--token-file=${tokenFile}`, '--reload-interval-min=0s'],
      { launcher },
    );
    await untilServing(
      haproxy,
      () => haproxy.stderr().includes('HAProxy serves') || haproxy.stdout().includes('HAProxy serves'),
    );
    await untilServing(agent, () => existsSync(socketPath));
    return { name, port: this.port, socketPath, tokenFile, agent, haproxy };
  }

  /** What answers a request of a pod: an origin's address, or the status where it is no success. */
  async answer({ port }: HaproxyPod, host: string): Promise<string | number> {
    const response = await request(port, { host, path: '/' });
    return response.status === 200 ? response.body.toString() : response.status;
  }

  async untilAnswers(
    pod: HaproxyPod,
    host: string,
    wanted: string | number,
    controller?: Running,
  ): Promise<void> {
    const condition = async (): Promise<boolean> => {
      const answer = await this.answer(pod, host);
      if (answer !== wanted) throw new Error(`it answers ${answer}`);
      return true;
    };
    await until(condition, { deadlineMs: 60_000, what: `${host} answers ${wanted}` }).catch(
      (error: Error) => {
        throw new Error(`${error.message}\n${controller?.stdout()}\n${controller?.stderr()}`, {
          cause: error,
        });
      },
    );
  }

  /** A file for a new user with the rights that the chart gives to a controller, or others; through a proxy where it is said. */
  async controllerKubeconfig(
    rules: ControllerRules = controllerRules(),
    cluster = this.cluster,
  ): Promise<string> {
    const { namespace, at } = this;
    const user = await cluster.user({ cluster: rules.cluster, namespaces: { [namespace]: rules.namespace } });
    const file = join(at.dir, `controller-${(this.#users += 1)}.kubeconfig`);
    await writeFile(file, user);
    return file;
  }

  async startController(
    pods: readonly Pick<HaproxyPod, 'name' | 'socketPath' | 'tokenFile'>[],
    {
      haproxy,
      kubeconfig,
      args = [],
      nodeArgs = [],
      program = 'sources',
      deployAgent,
      plugins: more = [],
    }: {
      haproxy: string;
      /** Of a user with exactly the rights that the chart gives, by default. */
      kubeconfig?: string;
      args?: readonly string[];
      nodeArgs?: readonly string[];
      program?: keyof typeof programs;
      /** Its options where it finds its pods by itself. */
      deployAgent?: object;
      /** Entries of the host configuration. */
      plugins?: readonly object[];
    },
  ): Promise<Controller> {
    const hostConfig = join(this.at.dir, 'haptic.config.yaml');
    const named = pods.map(({ name, socketPath, tokenFile }) => ({ name, socketPath, tokenFile }));
    const plugins = [
      { use: '@haptic/deploy-agent', options: deployAgent ?? { mode: 'static', pods: named } },
      { use: '@haptic/health', options: { host: '127.0.0.1', port: 0 } },
      { use: '@haptic/metrics', options: { host: '127.0.0.1', port: 0 } },
      ...more,
    ];
    await writeFile(hostConfig, stringify({ plugins }));
    const user = kubeconfig ?? (await this.controllerKubeconfig());
    const flags = [`--namespace=${this.namespace}`, `--host-config=${hostConfig}`, `--haproxy=${haproxy}`];
    const running = await this.#start(['run', `--kubeconfig=${user}`, ...flags, ...args], {
      nodeArgs,
      program,
    });
    const log = (): readonly LogLine[] => jsonLines(running.stdout());
    const untilLogged = (message: string | RegExp): Promise<void> =>
      untilServing(running, () => log().some(({ msg }) => matches(msg, message)));
    const health = async (page: string): Promise<{ status: number; body: string }> => {
      const told = log().find(({ msg }) => msg === 'answers probes');
      const response = await fetch(`http://127.0.0.1:${String(told?.['port'])}${page}`);
      return { status: response.status, body: await response.text() };
    };
    return { ...running, log, untilLogged, health };
  }

  /** Each in a place of its own: the end of one waits until nothing of its place runs. */
  async #start(
    args: readonly string[],
    {
      nodeArgs = [],
      program = 'sources',
      launcher = [],
    }: {
      readonly nodeArgs?: readonly string[];
      readonly program?: keyof typeof programs;
      readonly launcher?: readonly string[];
    } = {},
  ): Promise<Running> {
    const node = [process.execPath, ...nodeArgs, ...programs[program]];
    const [command = '', ...words] = [...launcher, ...node, ...args];
    return start(command, words, await place());
  }
}

function matches(text: unknown, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? text === wanted : wanted.test(String(text));
}

function jsonLines(text: string): readonly LogLine[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LogLine);
}
