import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { until } from '../../haproxy/until.ts';
import { StallMeter } from './stall-meter.ts';
import { timing } from './timing.ts';

const program = fileURLToPath(new URL('candidate.ts', import.meta.url));
/** For the requests and the steps of a candidate. */
const slackMs = 500;

interface Reign {
  readonly identity: string;
  readonly epoch: number;
  /** Nanoseconds of the machine's monotonic clock, which all its processes share. */
  readonly from: bigint;
  to: bigint;
}

interface Candidate {
  readonly identity: string;
  readonly process: ChildProcess;
}

/** Processes that stand for election, and the book of who took itself for the leader when. */
export class Election {
  readonly #kubeconfig: string;
  readonly #namespace: string;
  readonly #candidates = new Map<string, Candidate>();
  readonly #reigns = new Map<string, Reign>();
  readonly #floor: Server;
  readonly #stalls = new StallMeter();
  #highestEpoch = 0;
  #number = 0;

  private constructor(kubeconfig: string, namespace: string) {
    this.#kubeconfig = kubeconfig;
    this.#namespace = namespace;
    this.#floor = createServer((_, response) => void response.end(`${this.#highestEpoch}`));
  }

  /** Ends with the test. */
  static async open(kubeconfig: string, namespace: string): Promise<Election> {
    const election = new Election(kubeconfig, namespace);
    election.#floor.listen(0, '127.0.0.1');
    await once(election.#floor, 'listening');
    onTestFinished(async () => {
      for (const candidate of election.all()) await election.kill(candidate);
      election.#stalls.stop();
      election.#floor.closeAllConnections();
      await new Promise((resolve) => void election.#floor.close(resolve));
    });
    return election;
  }

  /** Resolves when it says its first word. */
  async join(): Promise<Candidate> {
    const identity = `candidate-${(this.#number += 1)}`;
    const { port } = this.#floor.address() as AddressInfo;
    const floor = `http://127.0.0.1:${port}`;
    const args = ['--conditions=source', program, this.#kubeconfig, this.#namespace, identity, floor];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const candidate = { identity, process: child };
    this.#candidates.set(identity, candidate);
    child.stdin.on('error', () => undefined);
    const lines = createInterface(child.stdout);
    await once(lines, 'line');
    lines.on('line', (line) => this.#note(identity, line));
    return candidate;
  }

  pause({ process }: Candidate): void {
    process.kill('SIGSTOP');
  }

  resume({ process }: Candidate): void {
    process.kill('SIGCONT');
  }

  async kill({ identity, process }: Candidate): Promise<void> {
    if (!this.#candidates.delete(identity)) return;
    const closed = once(process, 'close');
    process.kill('SIGKILL');
    await closed;
  }

  /** Lets it hand over. */
  async leave({ identity, process }: Candidate): Promise<void> {
    this.#candidates.delete(identity);
    const closed = once(process, 'close');
    process.stdin?.end();
    await closed;
  }

  all(): readonly Candidate[] {
    return [...this.#candidates.values()];
  }

  /**
   * Who leads after this moment.
   * @throws Error when nobody does within the lease duration; what a busy machine keeps from everybody is added.
   */
  async leader(): Promise<Candidate> {
    const since = process.hrtime.bigint();
    const stalled = this.#stalls.total;
    const claims = (): Reign | undefined =>
      this.#reigns.values().find(({ to, identity }) => to > since && this.#candidates.has(identity));
    const { identity, from } = await until(claims, { deadlineMs: 60_000, what: 'somebody leads' });
    const gap = Math.max(0, Number(from - since) / 1e6);
    const allowed = timing.leaseDuration + slackMs + 2 * (this.#stalls.total - stalled);
    expect(gap, 'milliseconds without a leader').toBeLessThan(allowed);
    return this.#candidates.get(identity) ?? this.leader();
  }

  /** Never two at one time, every epoch of one candidate only, and epochs in the order of the reigns. */
  expectOneAtATime(): void {
    const reigns = [...this.#reigns.values()].sort((a, b) => (a.from < b.from ? -1 : 1));
    for (const [index, reign] of reigns.entries()) {
      const next = reigns[index + 1];
      if (next === undefined) continue;
      const words = `${reign.identity} (${reign.epoch}) until ${reign.to}, ${next.identity} (${next.epoch}) from ${next.from}`;
      expect(reign.to < next.from, `one after the other: ${words}`).toBe(true);
      expect(next.epoch, words).toBeGreaterThan(reign.epoch);
    }
  }

  get terms(): number {
    return this.#reigns.size;
  }

  #note(identity: string, line: string): void {
    const [epoch = '', at = ''] = line.split(' ');
    const key = `${identity} ${epoch}`;
    const time = BigInt(at);
    this.#highestEpoch = Math.max(this.#highestEpoch, Number(epoch));
    const reign = this.#reigns.get(key);
    if (reign === undefined) this.#reigns.set(key, { identity, epoch: Number(epoch), from: time, to: time });
    else reign.to = time;
  }
}
