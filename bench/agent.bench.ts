import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeployPlan, Rendered } from '@haptic/core/contract';
import { exchange } from '../agent/src/haproxy/exchange.ts';
import { Deployer } from '../test/agent/deployer.ts';
import type { Reply } from '../test/agent/pod.ts';
import type { World } from '../test/agent/world.ts';
import { freePort } from '../test/haproxy/free-port.ts';
import { haproxyBinary } from '../tools/haproxy/index.ts';
import { compared, type BenchResult } from './bench.ts';

const SIZES = [300, 1_000, 3_000];
const ROUNDS = 30;
const body = 'balance roundrobin\n';
const TOKEN = 'a token that is long enough';

/** An agent and a HAProxy as processes of their own. */
class BenchPod {
  readonly dir = mkdtempSync(join(tmpdir(), 'haptic-bench-'));
  readonly workerSocket = join(this.dir, 'worker.sock');
  readonly port: number;
  readonly tlsPort: number;
  readonly #http = new Agent({ keepAlive: true });
  readonly #children: ChildProcess[] = [];

  constructor(port: number, tlsPort: number) {
    this.port = port;
    this.tlsPort = tlsPort;
    writeFileSync(join(this.dir, 'token'), TOKEN);
  }

  static async start(): Promise<BenchPod> {
    const pod = new BenchPod(await freePort(), await freePort());
    const folders = [`--base-dir=${join(pod.dir, 'base')}`, `--socket-dir=${pod.dir}`];
    const haproxy = await haproxyBinary('3.4');
    pod.#spawn('haproxy', [...folders, `--haproxy=${haproxy}`, '--drain=0']);
    pod.#spawn('agent', [
      ...folders,
      `--listen=${join(pod.dir, 'agent.sock')}`,
      `--token-file=${join(pod.dir, 'token')}`,
    ]);
    for (let tries = 0; tries < 600; tries += 1) {
      const state = await pod.state().catch(() => undefined);
      if (state?.worker != null && state.inStep) return pod;
      await new Promise((resolve) => void setTimeout(resolve, 50));
    }
    throw new Error('the agent and HAProxy did not start within 30 s');
  }

  #spawn(name: string, args: readonly string[]): void {
    const file = join(import.meta.dirname, '..', 'test', 'agent', 'programs', `${name}.ts`);
    const options = ['--conditions=source', file, ...args, '--exit-with-parent'];
    this.#children.push(spawn(process.execPath, options, { stdio: ['pipe', 'ignore', 'ignore'] }));
  }

  async state(query = ''): Promise<Awaited<ReturnType<ConstructorParameters<typeof Deployer>[0]['state']>>> {
    return (await this.#call('GET', `/v1/state?${query}`)).body as never;
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

  /** Resident memory of the agent, MiB. */
  memory(): number {
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

/** A message that is ready to be sent, so that only the agent's work is timed. */
async function prepared(
  deployer: Deployer,
  world: World,
): Promise<{ next: Rendered; plan: DeployPlan; text: string }> {
  const next = deployer.renderer.render(world);
  const plan = await deployer.plan(next);
  return { next, plan, text: JSON.stringify(deployer.message(next, plan)) };
}

async function medianOf(times: number, once: (round: number) => Promise<number>): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round < times; round += 1) taken.push(await once(round));
  return taken.toSorted((a, b) => a - b)[Math.floor(times / 2)] ?? 0;
}

interface Case {
  readonly name: string;
  readonly change: (base: World, round: number) => World;
  /** The bare commands for the same, and what takes them back. */
  readonly commands: (round: number) => readonly [line: string, back: string];
}

const cases: readonly Case[] = [
  {
    name: 'one server changed',
    change: (base, round) => ({
      ...base,
      backends: { ...base.backends, b0: { body, servers: { s: { port: 1, weight: 2 + (round % 100) } } } },
    }),
    commands: (round) => [`set server b1/s weight ${2 + (round % 100)}`, 'set server b1/s weight 1'],
  },
  {
    name: 'one map entry added',
    change: (base, round) => ({ ...base, hosts: { ...base.hosts, [`new${round}.test`]: 'b0' } }),
    commands: (round) => [`add map maps/hosts.map bare${round} b0`, `del map maps/hosts.map bare${round}`],
  },
  {
    name: 'one route added',
    change: (base, round) => ({
      ...base,
      backends: { ...base.backends, [`n${round}`]: { body, servers: { s: { port: 1 } } } },
      hosts: { ...base.hosts, [`route${round}.test`]: `n${round}` },
    }),
    commands: (round) => {
      const name = `bare${round}`;
      return [
        `add backend ${name} from PROFILE mode http guid be:${name}; add server ${name}/s 127.0.0.1:1 weight 1 guid srv:${name}:s; enable server ${name}/s; publish backend ${name}; add map maps/hosts.map ${name}.test ${name}`,
        `del map maps/hosts.map ${name}.test; unpublish backend ${name}; disable server ${name}/s; wait 1s srv-removable ${name}/s; del server ${name}/s; wait 1s be-removable ${name}; del backend ${name}`,
      ];
    },
  },
];

async function measure(size: number): Promise<BenchResult[]> {
  const pod = await BenchPod.start();
  try {
    const deployer = new Deployer(pod);
    const names = Array.from({ length: size }, (_, index) => `b${index}`);
    const base: World = {
      backends: Object.fromEntries(names.map((name) => [name, { body, servers: { s: { port: 1 } } }])),
      hosts: Object.fromEntries(names.map((name) => [`${name}.test`, name])),
    };
    const { reply } = await deployer.deploy(base);
    if (reply.body.outcome !== 'reload') throw new Error(`the first apply: ${JSON.stringify(reply)}`);
    const [profile = ''] = Object.keys(deployer.applied?.plan.profiles ?? {});
    const results: BenchResult[] = [];
    for (const { name, change, commands } of cases) {
      const apply = await medianOf(ROUNDS, async (round) => {
        const { next, plan, text } = await prepared(deployer, change(base, round));
        const startedAt = performance.now();
        const answer = await pod.apply(text);
        const ms = performance.now() - startedAt;
        if (answer.body.outcome !== 'runtime')
          throw new Error(`${name}: ${plan.reasons.join()} ${JSON.stringify(answer)}`);
        deployer.note(next, answer);
        return ms;
      });
      const bare = await medianOf(ROUNDS, async (round) => {
        const [line, back] = commands(round).map((text) => text.replaceAll('PROFILE', profile));
        const startedAt = performance.now();
        await exchange(pod.workerSocket, line ?? '', { timeoutMs: 5_000 });
        const ms = performance.now() - startedAt;
        await exchange(pod.workerSocket, back ?? '', { timeoutMs: 5_000 });
        return ms;
      });
      results.push(compared({ name: `agent: ${name}, ${size} backends`, value: apply, unit: 'ms' }, bare));
    }
    results.push({ name: `agent: resident memory, ${size} backends`, value: pod.memory(), unit: 'MiB' });
    return results;
  } finally {
    await pod.stop();
  }
}

export async function run(): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const size of SIZES) results.push(...(await measure(size)));
  return results;
}
