import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentState } from '@haptic/agent/protocol';
import type { Reply } from '../../test/agent/pod.ts';
import { freePort } from '../../test/haproxy/free-port.ts';
import { haproxyBinary, type HaproxyMinor } from '../../tools/haproxy/index.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'cli', 'dist', 'main.js');
const TOKEN = 'a token that is long enough';

/** An agent and a HAProxy as they are shipped: processes of the built program. */
export class BenchPod {
  readonly dir = mkdtempSync(join(tmpdir(), 'haptic-bench-'));
  readonly workerSocket = join(this.dir, 'worker.sock');
  readonly masterSocket = join(this.dir, 'master.sock');
  readonly port: number;
  readonly tlsPort: number;
  readonly #http = new Agent({ keepAlive: true });
  readonly #children: ChildProcess[] = [];

  private constructor(port: number, tlsPort: number) {
    this.port = port;
    this.tlsPort = tlsPort;
    writeFileSync(join(this.dir, 'token'), TOKEN);
  }

  static async start(version: HaproxyMinor): Promise<BenchPod> {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing: run \`npm run build\` first`);
    const pod = new BenchPod(await freePort(), await freePort());
    const folders = [`--base-dir=${join(pod.dir, 'base')}`, `--socket-dir=${pod.dir}`];
    pod.#spawn('haproxy', ...folders, `--haproxy=${await haproxyBinary(version)}`, '--drain=0ms');
    pod.#spawn(
      'agent',
      ...folders,
      `--listen=unix:${join(pod.dir, 'agent.sock')}`,
      `--token-file=${join(pod.dir, 'token')}`,
      '--reload-interval-min=0ms',
    );
    for (let tries = 0; tries < 600; tries += 1) {
      const state = await pod.state().catch(() => undefined);
      if (state?.worker != null && state.inStep) return pod;
      await new Promise((resolve) => void setTimeout(resolve, 50));
    }
    await pod.stop();
    throw new Error('the agent and HAProxy did not start within 30 s');
  }

  #spawn(...args: readonly string[]): void {
    const options = [PROGRAM, ...args, '--exit-with-parent', '--log-level=error'];
    this.#children.push(spawn(process.execPath, options, { stdio: ['pipe', 'ignore', 'ignore'] }));
  }

  async state(query = 'plan=0&files=0'): Promise<AgentState> {
    return (await this.#call('GET', `/v1/state?${query}`)).body as unknown as AgentState;
  }

  apply(message: object | string): Promise<Reply> {
    return this.#call('POST', '/v1/apply', typeof message === 'string' ? message : JSON.stringify(message));
  }

  #call(method: string, path: string, text?: string): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${TOKEN}`,
        ...(text !== undefined && { 'content-type': 'application/json' }),
      };
      const socketPath = join(this.dir, 'agent.sock');
      const call = request({ socketPath, method, path, headers, agent: this.#http }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: JSON.parse(Buffer.concat(chunks).toString()) as Reply['body'],
          }),
        );
      });
      call.on('error', reject);
      call.end(text);
    });
  }

  /** What was taken out of use has gone; entries that are kept for requests in flight do no harm. */
  async quiet(): Promise<void> {
    for (let tries = 0; tries < 600; tries += 1) {
      const { pendingDeletes } = await this.state();
      if (pendingDeletes.every((name) => name.startsWith('map '))) return;
      await new Promise((resolve) => void setTimeout(resolve, 5));
    }
    throw new Error(`did not go: ${(await this.state()).pendingDeletes.join(', ')}`);
  }

  /** Resident memory of the agent at rest, MiB. */
  async memory(): Promise<number> {
    await new Promise((resolve) => void setTimeout(resolve, 2_000));
    const status = readFileSync(`/proc/${this.#children[1]!.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
  }

  async stop(): Promise<void> {
    this.#http.destroy();
    for (const child of this.#children.toReversed()) {
      child.stdin?.end();
      if (child.exitCode === null) await once(child, 'exit');
    }
    rmSync(this.dir, { recursive: true, force: true });
  }
}
