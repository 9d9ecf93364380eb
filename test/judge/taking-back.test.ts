import { expect, test as always } from 'vitest';
import { haproxyBinary } from '../../tools/haproxy/index.ts';
import { FoundPods, whyNoFoundPods, type AgentPod } from '../agent/found-pods.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { origin, type Origin } from '../haproxy/origin.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { answerOf, gatedHaproxy, ingress, startLeading, type Gate, type Leading } from './real-pods.ts';

const LONG = { deadlineMs: 40_000 };

/** Far below what an agent may take over an apply (75 s); a revert takes a reload, and one follows the other. */
const SOON = { deadlineMs: 15_000 };

/** Each of those that are silent may have its turn for ten seconds. */
const SILENT = { deadlineMs: SOON.deadlineMs + 20_000 };

interface Scene {
  readonly app: Origin;
  readonly found: FoundPods;
  readonly pods: readonly AgentPod[];
  readonly controller: Leading;
  readonly gate: Gate;
  readonly accepted: string;
  /** All pods have it by operations alone, and its check has begun. */
  readonly bad: string;
}

/** Does nothing until it may again. */
function stopped(pid: number): () => void {
  process.kill(pid, 'SIGSTOP');
  let isStopped = true;
  const goOn = (): void => {
    if (isStopped) process.kill(pid, 'SIGCONT');
    isStopped = false;
  };
  onCleanup(goOn);
  return goOn;
}

async function runs(
  pods: readonly AgentPod[],
  plan: string,
  { log }: Leading,
  deadline = LONG,
): Promise<void> {
  for (const { name, state } of pods) {
    const inStep = async (): Promise<boolean> => {
      const { applied, inStep: isInStep } = await state();
      if (applied !== plan || !isInStep) throw new Error(`it has ${applied}, in step: ${isInStep}`);
      return true;
    };
    await until(inStep, { ...deadline, what: `${name} runs ${plan}` }).catch((error: Error) => {
      throw new Error(`${error.message}\n${JSON.stringify(log.records.slice(-20), undefined, 1)}`);
    });
  }
}

const seqOf = async ({ state }: AgentPod): Promise<number> => (await state()).token?.seq ?? 0;

const reason = whyNoFoundPods();
const test = always.skipIf(reason !== undefined);

forEachVersion(
  ({ binary }) => {
    async function open(names: readonly string[]): Promise<Scene> {
      const app = await origin('app');
      const found = await FoundPods.open();
      const pods = await Promise.all(names.map((name) => found.start(name, binary)));
      found.enter(...pods);
      // The one that judges is older than those that serve: it does not know what they have applied.
      const gate = await gatedHaproxy(await haproxyBinary('3.0'));
      const controller = await startLeading({
        judge: gate.binary,
        objects: [ingress('good', app.port)],
        deploy: found.options,
        plugins: [{ plugin: found.plugin }],
        spec: { agent: { port: found.port, waves: { soak: '0s' } } },
      });
      await until(() => controller.status().gate?.state === 'open', LONG);
      const accepted = controller.status().plan!.id;
      await runs(pods, accepted, controller);
      await until(() => controller.status().gate?.pending.length === 0, LONG);
      await gate.close();
      controller.put(ingress('bad', app.port, { keywords: ['init-state', 'up'] }));
      await until(() => controller.status().dispatched !== accepted, LONG);
      const bad = controller.status().dispatched!;
      await runs(pods, bad, controller);
      for (const { pod, state } of pods) {
        expect((await state()).running).toBe(accepted);
        expect(await answerOf(pod, 'bad')).toBe('app');
      }
      return { app, found, pods, controller, gate, accepted, bad };
    }

    /** It is refused, and one pod is about to load its last known good; how all may go on, and which one it is. */
    async function midway({ pods, gate }: Scene): Promise<[middle: AgentPod, goOn: () => void]> {
      const masters = await Promise.all(pods.map(async ({ state }) => (await state()).master!.pid));
      const before = new Map(await Promise.all(pods.map(async (pod) => [pod, await seqOf(pod)] as const)));
      const goOn = masters.map((pid) => stopped(pid));
      await gate.letOne();
      const isBusy = async (pod: AgentPod): Promise<boolean> => (await seqOf(pod)) > before.get(pod)!;
      const middle = await until(
        async () => {
          const busy = await Promise.all(pods.map(isBusy));
          return pods.find((_, index) => busy[index]);
        },
        { ...LONG, what: 'a pod is being put back' },
      );
      return [middle, () => goOn.forEach((go) => go())];
    }

    async function lastPlan({ controller, gate, app, pods }: Scene): Promise<void> {
      // One for the render without the culprit, one for what comes then.
      await gate.letOne();
      await until(() => controller.status().gate?.state === 'open', LONG);
      controller.put(ingress('next', app.port));
      await gate.letOne();
      await until(() => 'next' in (controller.status().plan?.backends ?? {}), LONG);
      await runs(pods, controller.status().plan!.id, controller);
      for (const { pod } of pods) {
        expect(await answerOf(pod, 'next')).toBe('app');
        expect(await answerOf(pod, 'bad')).toBe('503');
      }
    }

    test(
      'pods that leave while a plan is taken back hold up no other, and are put right when they return',
      {
        timeout: 180_000,
      },
      async () => {
        const scene = await open(['a', 'b', 'c', 'd']);
        const { found, pods, controller, accepted, bad } = scene;
        const [middle, goOn] = await midway(scene);
        const [waiting, ...stay] = pods.filter((pod) => pod !== middle) as [AgentPod, ...AgentPod[]];
        await Promise.all([middle.killAgent(), waiting.killAgent()]);
        found.leave(middle, waiting);
        goOn();
        await runs(stay, accepted, controller, SOON);
        for (const { pod } of stay) expect(await answerOf(pod, 'good')).toBe('app');

        for (const left of [middle, waiting]) await left.startAgent();
        expect((await waiting.state()).applied).toBe(bad);
        found.enter(middle, waiting);
        await runs(pods, accepted, controller, SOON);
        for (const { pod } of pods) expect(await answerOf(pod, 'bad')).toBe('503');
        await lastPlan(scene);
      },
    );

    test(
      'pods that fall silent while a plan is taken back hold up no other, and are put right when they answer',
      {
        timeout: 300_000,
      },
      async () => {
        const scene = await open(['a', 'b', 'c', 'd']);
        const { pods, controller, accepted } = scene;
        const [middle, goOn] = await midway(scene);
        const others = pods.filter((pod) => pod !== middle);
        const [stays, ...silent] = others.toReversed() as [AgentPod, ...AgentPod[]];
        const answer = silent.map(({ agent }) => stopped(agent().pid));
        goOn();
        await runs([middle, stays], accepted, controller, SILENT);
        answer.forEach((go) => go());
        await runs(pods, accepted, controller, SOON);
        for (const { pod } of pods) expect(await answerOf(pod, 'bad')).toBe('503');
        await lastPlan(scene);
      },
    );
  },
  ['3.4'],
);
