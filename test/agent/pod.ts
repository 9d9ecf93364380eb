import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import type { AgentState, ApplyAnswer, ApplyMessage, Conflict } from '@haptic/agent/protocol';
import { freePort } from '../haproxy/free-port.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { noProcesses, processesIn } from '../haproxy/processes.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';
import { siteFiles, type Files } from './plan.ts';
import type { Fault } from './programs/fault.ts';
import { startProgram, type Launcher, type Program } from './program.ts';

export const TOKEN = 'a token that is long enough';

export interface Reply {
  readonly status: number;
  /** The answer, a conflict or an error, by status. */
  readonly body: ApplyAnswer & Conflict & { readonly error?: string; readonly problems?: string[] };
}

/** One HAProxy pod: folders, and the two programs in them as they are started. */
export class Pod {
  readonly dir: string;
  readonly baseDir: string;
  readonly socketDir: string;
  readonly port: number;
  readonly tlsPort: number;
  readonly #binary: string;
  #faults = 0;
  /** Under what its programs run. */
  launcher: Launcher = [];

  private constructor(dir: string, binary: string, [port, tlsPort]: readonly [number, number]) {
    this.dir = dir;
    this.baseDir = join(dir, 'base');
    this.socketDir = join(dir, 'run');
    this.port = port;
    this.tlsPort = tlsPort;
    this.#binary = binary;
  }

  static async create(binary: string): Promise<Pod> {
    const pod = new Pod(await tempDir(), binary, [await freePort(), await freePort()]);
    onCleanup(() => pod.#endAll());
    await mkdir(pod.socketDir, { recursive: true });
    await writeFile(join(pod.dir, 'token'), `${TOKEN}\n`);
    return pod;
  }

  get apiSocket(): string {
    return join(this.socketDir, 'agent.sock');
  }

  get #faultFile(): string {
    return join(this.dir, 'fault.json');
  }

  /** What the agent does when it comes to a moment of an apply from now on: `step`, or `step:n` for its n-th time. */
  async order(does: Fault['does'], at = ''): Promise<void> {
    this.#faults += 1;
    await rm(`${this.#faultFile}.trace`, { force: true });
    // In one step: the agent may read it at any time.
    await writeFile(`${this.#faultFile}.new`, JSON.stringify({ id: this.#faults, does, at } satisfies Fault));
    await rename(`${this.#faultFile}.new`, this.#faultFile);
  }

  /** Nothing is to go wrong any more; what was traced. */
  async orderNothing(): Promise<readonly string[]> {
    await rm(this.#faultFile, { force: true });
    const trace = await readFile(`${this.#faultFile}.trace`, 'utf8').catch(() => '');
    return trace.split('\n').filter((line) => line !== '');
  }

  get workerSocket(): string {
    return join(this.socketDir, 'worker.sock');
  }

  get masterSocket(): string {
    return join(this.socketDir, 'master.sock');
  }

  /** Files whose answer is `text`. */
  site(text: string, options: { readonly map?: string; readonly extra?: string } = {}): Files {
    const { port, workerSocket } = this;
    const extra = options.extra === undefined ? {} : { extra: options.extra };
    return siteFiles({ port, workerSocket, text, ...extra }, options.map);
  }

  async startAgent(options: Readonly<Record<string, string | boolean>> = {}): Promise<Program> {
    const program = this.spawnAgent(options);
    await this.#whileRunning(program, 'the agent answers', () => this.state());
    return program;
  }

  /** Without waiting for it. */
  spawnAgent(options: Readonly<Record<string, string | boolean>> = {}): Program {
    return this.#start('agent', {
      'base-dir': this.baseDir,
      'socket-dir': this.socketDir,
      listen: `unix:${this.apiSocket}`,
      'token-file': join(this.dir, 'token'),
      faults: this.#faultFile,
      ...options,
    });
  }

  async startHaproxy(options: Readonly<Record<string, string | boolean>> = {}): Promise<Program> {
    const program = this.spawnHaproxy(options);
    await this.#whileRunning(program, 'HAProxy serves', () =>
      /HAProxy serves|going on with/.test(program.output()),
    );
    return program;
  }

  /** Without waiting for it. */
  spawnHaproxy(options: Readonly<Record<string, string | boolean>> = {}): Program {
    return this.#start('haproxy', {
      haproxy: this.#binary,
      'base-dir': this.baseDir,
      'socket-dir': this.socketDir,
      ...options,
    });
  }

  #start(name: string, options: Readonly<Record<string, string | boolean>>): Program {
    return startProgram(name, options, this.launcher);
  }

  async #whileRunning(program: Program, what: string, condition: () => unknown): Promise<void> {
    let ended: number | string | undefined;
    void program.ended.then((how) => (ended = how));
    await until(async () => ended !== undefined || (await condition()), { what, deadlineMs: 20_000 }).catch(
      (error: Error) => {
        throw new Error(`${error.message}\n${program.output()}`);
      },
    );
    if (ended !== undefined) throw new Error(`ended with ${ended}:\n${program.output()}`);
  }

  apply(message: ApplyMessage | object, signal?: AbortSignal): Promise<Reply> {
    return this.call('POST', '/v1/apply', JSON.stringify(message), signal);
  }

  async state(query = ''): Promise<AgentState> {
    const { status, body } = await this.call('GET', `/v1/state?${query}`);
    if (status !== 200) throw new Error(`state: ${status} ${JSON.stringify(body)}`);
    return body as unknown as AgentState;
  }

  call(method: string, path: string, body?: string, signal?: AbortSignal, token = TOKEN): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      };
      const outgoing = request(
        { socketPath: this.apiSocket, method, path, headers, agent: false, ...(signal && { signal }) },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Reply['body'] });
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  /** The HAProxy of a supervisor that was killed goes on serving: it is not a child of ours. */
  async #endAll(): Promise<void> {
    for (const line of await processesIn(this.dir)) killIfThere(Number.parseInt(line, 10));
    await noProcesses(this.dir);
  }

  /** What is in place, as HAProxy would read it: one tree, also where another one takes its place meanwhile. */
  async tree(): Promise<Files> {
    const link = join(this.baseDir, 'current');
    for (;;) {
      const root = await realpath(link);
      try {
        return await filesIn(root);
      } catch (error) {
        // It may go once it is not the current one any more.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || (await realpath(link)) === root)
          throw error;
      }
    }
  }

  /** The folders of trees on the disk, unfinished ones included. */
  async trees(): Promise<string[]> {
    return await readdir(join(this.baseDir, 'trees'));
  }
}

async function filesIn(root: string): Promise<Files> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const read = files.map(async (entry): Promise<[string, string]> => {
    const path = join(entry.parentPath, entry.name);
    return [path.slice(root.length + 1), await readFile(path, 'utf8')];
  });
  return Object.fromEntries(await Promise.all(read));
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
