import type { ApplyMessage } from '@haptic/agent/protocol';
import { exchange } from '../agent/src/haproxy/exchange.ts';
import { pemFor } from '../test/agent/certificates.ts';
import { Deployer, sparesFor } from '../test/agent/deployer.ts';
import type { World } from '../test/agent/world.ts';
import type { HaproxyMinor } from '../tools/haproxy/index.ts';
import { BenchPod } from './agent/bench-pod.ts';
import { benchWorld } from './agent/bench-world.ts';
import { cases, spareCases, type BenchCase, type Situation } from './agent/cases.ts';
import { compared, type BenchResult } from './bench.ts';

const SIZES = [300, 1_000, 3_000, 10_000];
/** Applies before the first one that counts: code that just started is not compiled yet. */
const WARM_UP = 60;

/** Sends the two messages between two worlds in turns; only the agent's work is timed. */
class Turns {
  readonly #pod: BenchPod;
  readonly #there: ApplyMessage;
  readonly #back: ApplyMessage;
  #seq: number;

  private constructor(pod: BenchPod, [there, back]: readonly [ApplyMessage, ApplyMessage]) {
    this.#pod = pod;
    this.#there = there;
    this.#back = back;
    this.#seq = back.token.seq;
  }

  static async between(pod: BenchPod, deployer: Deployer, before: World, after: World): Promise<Turns> {
    const messages: ApplyMessage[] = [];
    for (const world of [after, before]) {
      const next = deployer.render(world);
      const message = deployer.message(next, await deployer.plan(next));
      messages.push(message);
      deployer.note(next, await pod.apply(message));
      await pod.quiet();
    }
    return new Turns(pod, messages as [ApplyMessage, ApplyMessage]);
  }

  /** Milliseconds of the way there. */
  async turn(outcome: string): Promise<number> {
    const ms = await this.#send(this.#there, outcome);
    await this.#pod.quiet();
    await this.#send(this.#back, outcome);
    await this.#pod.quiet();
    return ms;
  }

  /** So that the next message is the newest one. */
  end(deployer: Deployer): void {
    deployer.skipTo(this.#seq);
  }

  async #send(message: ApplyMessage, outcome: string): Promise<number> {
    this.#seq += 1;
    const text = JSON.stringify({ ...message, token: { ...message.token, seq: this.#seq } });
    const startedAt = performance.now();
    const { body } = await this.#pod.apply(text);
    const ms = performance.now() - startedAt;
    if (body.outcome !== outcome) throw new Error(`expected ${outcome}: ${JSON.stringify(body)}`);
    return ms;
  }
}

async function medianOf(times: number, once: () => Promise<number>): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round < times; round += 1) taken.push(await once());
  return taken.toSorted((a, b) => a - b)[Math.floor(times / 2)] ?? 0;
}

/** The same by bare commands, or by a bare reload. */
async function bareMedian(pod: BenchPod, { bare, rounds }: BenchCase, situation: Situation): Promise<number> {
  const timed = async (socket: string, line: string): Promise<number> => {
    const startedAt = performance.now();
    await exchange(socket, line, { timeoutMs: 60_000 });
    return performance.now() - startedAt;
  };
  if (bare === undefined) return await medianOf(rounds, () => timed(pod.masterSocket, 'reload'));
  const [there, back] = bare(situation);
  return await medianOf(rounds, async () => {
    const ms = await timed(pod.workerSocket, there);
    await timed(pod.workerSocket, back);
    return ms;
  });
}

async function measure(
  size: number,
  version: HaproxyMinor,
  list: readonly BenchCase[],
): Promise<BenchResult[]> {
  const pod = await BenchPod.start(version);
  try {
    const deployer = new Deployer(pod, { spareBackends: sparesFor(version) });
    const world = await benchWorld(size);
    const { reply } = await deployer.deploy(world);
    if (reply.body.outcome !== 'reload') throw new Error(`the first apply: ${JSON.stringify(reply)}`);
    const results: BenchResult[] = [];
    const memory: BenchResult[] = [];
    for (const [index, benchCase] of list.entries()) {
      const situation = { world, applied: deployer.applied!, pem: await pemFor('other.test') };
      const turns = await Turns.between(pod, deployer, world, benchCase.change(situation));
      const warmUp = benchCase.outcome === 'reload' ? 1 : index === 0 ? WARM_UP : WARM_UP / 4;
      for (let count = 0; count < warmUp; count += 1) await turns.turn(benchCase.outcome);
      const value = await medianOf(benchCase.rounds, () => turns.turn(benchCase.outcome));
      turns.end(deployer);
      const bare = await bareMedian(pod, benchCase, situation);
      results.push(compared({ name: `agent: ${benchCase.name}, ${size} backends`, value, unit: 'ms' }, bare));
    }
    memory.push({ name: `agent: resident memory, ${size} backends`, value: await pod.memory(), unit: 'MiB' });
    return [...results, ...memory];
  } finally {
    await pod.stop();
  }
}

/** @param sizes Numbers of backends, each with a host and a certificate; all when none are given. */
export async function run(sizes: readonly number[] = SIZES): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const size of sizes) {
    results.push(...(await measure(size, '3.4', cases)));
    results.push(...(await measure(size, '3.2', spareCases)).slice(0, 1));
  }
  return results;
}
