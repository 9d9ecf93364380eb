import { expect } from 'vitest';
import type { AgentState } from '@haptic/agent/protocol';
import type { Rendered } from '@haptic/core/contract';
import { request } from '../haproxy/raw-request.ts';
import { runtimeCommand } from '../haproxy/runtime-command.ts';
import type { TrafficReport } from '../haproxy/traffic.ts';
import { until } from '../haproxy/until.ts';
import { Deployer } from './deployer.ts';
import type { Attempt, Scenario } from './fault-scenarios.ts';
import type { Files } from './plan.ts';
import type { Pod, Reply } from './pod.ts';
import type { Program } from './program.ts';
import { coldDump, workerDump } from './worker-dump.ts';
import type { World } from './world.ts';

/** `look`: at everything that the worker holds, too; it takes a second HAProxy. */
interface Looking {
  readonly look?: boolean;
}

/** Of one client that sends one request after the other, over the few reloads of one attempt. */
const MOST_RESETS = 3;

/** A pod with its controller, on which applies are disturbed one after the other. */
export class FaultyPod {
  readonly pod: Pod;
  readonly deployer: Deployer;
  readonly #binary: string;
  readonly #haproxy: Program;
  #agent: Program | undefined;
  #options = '';
  /** What is deployed. */
  #world: World;
  #number = 1;
  /** Whether the attempt before the last ends with a refusal, and the last. */
  #refusals: readonly [boolean, boolean] = [false, false];

  private constructor(pod: Pod, binary: string, haproxy: Program, world: World) {
    this.pod = pod;
    this.#haproxy = haproxy;
    this.deployer = new Deployer(pod);
    this.#binary = binary;
    this.#world = world;
  }

  /** Serves the first world. */
  static async start(pod: Pod, binary: string, world: World): Promise<FaultyPod> {
    const faulty = new FaultyPod(pod, binary, await pod.startHaproxy(), world);
    await faulty.agent({});
    expect((await faulty.deployer.deploy(world)).reply.body.outcome).toBe('reload');
    return faulty;
  }

  /** What goes wrong meanwhile is told with what master, workers and agent said around it: a failed request is one of theirs. */
  async explain<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const processes = await runtimeCommand(this.pod.masterSocket, 'show proc').catch(String);
      const words = [
        error instanceof Error ? error.message : String(error),
        `${new Date().toISOString().slice(11)} now; HAProxy's processes:\n${processes}`,
        `HAProxy and its supervisor:\n${this.#haproxy.recent()}`,
        `the agent:\n${this.#agent?.recent() ?? 'not started'}`,
      ];
      throw new Error(words.join('\n\n'), { cause: error });
    }
  }

  /** The running agent, with these options. */
  async agent(options: Readonly<Record<string, string>>): Promise<Program> {
    const wanted = JSON.stringify(options);
    if (this.#agent !== undefined && (this.#options !== wanted || this.hasEnded)) {
      if (!this.hasEnded) await this.#agent.kill('SIGTERM');
      this.#agent = undefined;
    }
    this.#options = wanted;
    this.#agent ??= await this.pod.startAgent({ 'longest-response': '0', ...options });
    return this.#agent;
  }

  get hasEnded(): boolean {
    const child = this.#agent?.child;
    return child !== undefined && (child.exitCode !== null || child.signalCode !== null);
  }

  /** The next attempt of a scenario, on an agent with its options. */
  async prepare(scenario: Scenario): Promise<Attempt> {
    await this.agent(scenario.options);
    this.#number += 2;
    this.#refusals = [this.#refusals[1], scenario.outcome === 'rejected'];
    return await scenario.prepare(this.deployer, this.#world, this.#number);
  }

  /** Undefined when the connection was cut. */
  send({ message }: Attempt): Promise<Reply | undefined> {
    return this.pod.apply(message).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return undefined;
      throw error;
    });
  }

  /** Never a mixture, whatever happened a moment ago. */
  async expectWhole({ passing }: Attempt, words: string): Promise<void> {
    expect(passing.map(filesOf), `tree: ${words}`).toContainEqual(await this.pod.tree());
  }

  /**
   * Every request was answered. One thing is HAProxy's own: from 3.1 on the worker after a refused reload does not get the sockets of
   * the one before, and a connection that waits to be accepted in that moment is reset (docs/agent.md).
   */
  expectServed({ failures, failed }: TrafficReport, words: string): void {
    const mayReset = this.#refusals.includes(true);
    const others = failures.filter((failure) => !mayReset || !failure.includes('ECONNRESET'));
    expect(others, words).toEqual([]);
    expect(failed, `${words}: ${failures.join(', ')}`).toBeLessThanOrEqual(mayReset ? MOST_RESETS : 0);
  }

  async expectServing(words: string): Promise<void> {
    expect((await request(this.pod.port, { path: '/fixed' })).status, words).toBe(200);
  }

  /** Everything that was begun is done: the state tells the truth about files and worker. */
  async expectSettled(
    { passing }: Attempt,
    words: string,
    { look = true }: Looking = {},
  ): Promise<AgentState> {
    const state = await until(
      async () => {
        const now = await this.pod.state('verify=1');
        const { inStep, master, pendingReload, pendingDeletes, lastApply } = now;
        // A worker whose master was killed still answers for a moment.
        const isQuiet = master !== null && pendingReload === null && pendingDeletes.length === 0;
        if (inStep && isQuiet) return now;
        throw new Error(JSON.stringify({ inStep, master, pendingReload, pendingDeletes, lastApply }));
      },
      { what: `settled: ${words}`, deadlineMs: 40_000 },
    );
    const inPlace = passing.find(({ plan }) => plan.id === state.applied);
    expect(inPlace, `applied ${state.applied}: ${words}`).toBeDefined();
    expect(await this.pod.tree(), words).toEqual(filesOf(inPlace!));
    const digests = inPlace!.plan.files.map(({ path, digest }) => [path, digest]);
    expect(state, words).toMatchObject({ drift: [], files: Object.fromEntries(digests) });
    if (look) expect(await workerDump(this.pod), words).toEqual(await coldDump(this.pod, this.#binary));
    await this.expectServing(words);
    return state;
  }

  /** The answer says what is in place, and is kept; from there the next attempt goes on. */
  async expectTold(attempt: Attempt, reply: Reply | undefined, words: string): Promise<void> {
    const { message, before, after, worldAfter } = attempt;
    const told = `${words}: ${JSON.stringify(reply)}`;
    expect(reply?.status, told).toBe(200);
    const { applied, lastApply, token } = await this.expectSettled(attempt, told);
    // One that had to wait, or whose files HAProxy could not load when it was started again, ends later.
    if (lastApply?.planId === reply?.body.planId && reply?.body.outcome !== 'scheduled')
      expect(reply?.body.planId, told).toBe(applied);
    if (reply?.body.outcome !== 'rejected' && before !== after) expect(applied, told).toBe(after.plan.id);
    // On a disk that was full already nobody could note that it had come.
    const isNoted = token?.seq === message.token.seq;
    if (isNoted && reply?.body.outcome !== 'scheduled')
      expect(await this.pod.apply(message), told).toEqual(reply);
    const isAfter = applied === after.plan.id;
    this.deployer.note(isAfter ? after : before, {
      status: 200,
      body: { ...reply!.body, outcome: 'runtime' },
    });
    if (isAfter) this.#world = worldAfter;
  }

  /** The same request again ends as if nothing had happened, and once more it has the same answer. */
  async expectRepeatable(
    attempt: Attempt,
    { repeats }: Scenario,
    words: string,
    looking: Looking = {},
  ): Promise<void> {
    const { message, before, worldProven } = attempt;
    const reply = await this.pod.apply(message);
    expect(reply.status, `${words}: ${JSON.stringify(reply.body)}`).toBe(200);
    expect(repeats, `${words}: ${JSON.stringify(reply.body)}`).toContain(reply.body.outcome);
    const { applied, lkg } = await this.expectSettled(attempt, words, looking);
    const isProven = worldProven !== undefined && lkg === before.plan.id;
    const [ended, world] = isProven ? [before, worldProven] : [attempt.after, attempt.worldAfter];
    expect(applied, words).toBe(ended.plan.id);
    const again = await this.pod.apply(message);
    // The end of one that had to wait has its answer.
    if (reply.body.outcome !== 'scheduled') expect(again, words).toEqual(reply);
    this.deployer.note(ended, { ...reply, body: { ...reply.body, outcome: 'runtime' } });
    this.#world = world;
  }
}

function filesOf({ files }: Rendered): Files {
  return Object.fromEntries(
    files.entries.map(({ path }) => [path, Buffer.from(files.read(path)).toString('utf8')]),
  );
}
