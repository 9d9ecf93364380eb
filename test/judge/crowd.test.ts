import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { startCrowd, type Crowd } from '../agent/crowd.ts';
import { FoundPods } from '../agent/found-pods.ts';
import type { CrowdApply } from '../agent/programs/crowd.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { origin, type Origin } from '../haproxy/origin.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { answerOf, ingress, startLeading } from './real-pods.ts';

const LONG = process.env['HAPTIC_SOAK'] === '1';
const PODS = LONG ? 50 : 12;
/** How many of them fall silent. */
const SILENT = 3;
/** How long one of them may have a turn in which it says nothing, and they have theirs together. */
const SILENT_MS = 10_000;
const SOAK_MS = 300;
const AT_ONCE = 3;

/** Of one test, which many processes share the machine with. */
const DEADLINE = { deadlineMs: LONG ? 300_000 : 60_000 };

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const heap = (): number => {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
};

/** What the agents have seen and done since they had done that many applies each. */
async function seen(crowds: readonly Crowd[], since: readonly number[] = []) {
  const reports = await Promise.all(crowds.map((crowd) => crowd.report()));
  const counts = reports.flatMap(({ requests }) => Object.values(requests));
  return {
    applies: reports.flatMap(({ applies }, index) => applies.slice(since[index])),
    done: reports.map(({ applies }) => applies.length),
    requests: counts.reduce((sum, count) => sum + count, 0),
  };
}

/** The most that were under way at one time. */
function mostAtOnce(applies: readonly CrowdApply[]): number {
  return Math.max(
    ...applies.map(({ from }) => applies.filter((other) => other.from <= from && from < other.to).length),
  );
}

forEachVersion(
  ({ binary }) => {
    test(
      `${PODS} pods get one plan, in waves where it has to be loaded`,
      { timeout: LONG ? 900_000 : 180_000 },
      async () => {
        const [one, two, three] = [await origin('one'), await origin('two'), await origin('three')];
        const found = await FoundPods.open();
        const names = Array.from({ length: PODS }, (_, index) => `pod-${index}`);
        const begun = performance.now();
        const crowds = await Promise.all([
          startCrowd(found, names.slice(0, -SILENT), binary),
          startCrowd(found, names.slice(-SILENT), binary),
        ]);
        const [present, silent] = crowds;
        const pods = crowds.flatMap((crowd) => crowd.pods);
        // One that leads, and then those that will be silent when it is their turn.
        const inTurn = [...present.pods.slice(0, 1), ...silent.pods, ...present.pods.slice(1)];
        const figures: string[] = [`started in ${Math.round(performance.now() - begun)} ms`];
        const controller = await startLeading({
          judge: binary,
          objects: [ingress('app', one.port)],
          deploy: found.options,
          plugins: [{ plugin: found.plugin }],
          spec: { agent: { port: found.port, waves: { soak: `${SOAK_MS}ms`, size: AT_ONCE } } },
        });

        /** Waits until all of these crowds have what is wanted now; what it took. */
        async function measured(what: string, change: () => void, of: readonly Crowd[] = crowds) {
          const before = await seen(of);
          const told = controller.told.length;
          const [cpu, start, planBefore] = [
            process.cpuUsage(),
            performance.now(),
            controller.status().dispatched,
          ];
          change();
          // Of the pods' own kind it may be rendered anew when they have answered, and be the same.
          const isFirst = before.applies.length === 0;
          await until(() => isFirst || controller.status().dispatched !== planBefore, DEADLINE);
          let plan: string | undefined;
          const count = of.reduce((sum, { pods: theirs }) => sum + theirs.length, 0);
          const have = async (): Promise<boolean> => {
            const { applies } = await seen(of, before.done);
            plan = controller.status().dispatched;
            const taken = new Set(applies.filter(({ planId }) => planId === plan).map(({ pod }) => pod));
            if (taken.size < count) throw new Error(`${taken.size} have it`);
            return true;
          };
          await until(have, { ...DEADLINE, what }).catch((error: Error) => {
            throw new Error(
              `${error.message}\n${JSON.stringify(controller.log.records.slice(-30), undefined, 1)}`,
            );
          });
          const took = performance.now() - start;
          const { user, system } = process.cpuUsage(cpu);
          const after = await seen(of, before.done);
          const { applies } = after;
          const requests = (after.requests - before.requests) / count;
          const outcomes = (controller.told.length - told) / count;
          figures.push(
            `${what}: ${Math.round(took)} ms, CPU ${Math.round((user + system) / 1_000)} ms, ${requests.toFixed(1)} requests a pod, ${(applies.length / count).toFixed(1)} applies and ${outcomes.toFixed(1)} outcomes a pod`,
          );
          return {
            took,
            requests,
            outcomes,
            // Without those that only tell of a late pass.
            applies: applies.filter(({ planId, outcome }) => planId === plan && outcome !== 'noop'),
          };
        }

        const alone = heap();
        const first = await measured('the first plan', () => found.enter(...inTurn));
        expect(mostAtOnce(first.applies)).toBeLessThanOrEqual(AT_ONCE);
        await until(() => controller.status().gate?.state === 'open', DEADLINE);
        expect(heap() - alone).toBeLessThan(PODS + 10);
        figures.push(`heap: ${alone.toFixed(1)} MiB without pods, ${heap().toFixed(1)} MiB with them`);
        const states = await Promise.all(pods.map(({ address }) => found.stateOf(address)));
        expect(new Set(states.map(({ applied, inStep }) => `${applied} ${inStep}`)).size).toBe(1);

        // Of a kind that is new, and then of one that is known.
        await measured('endpoints', () => controller.put(ingress('app', two.port)));
        const moved = await measured('endpoints again', () => controller.put(ingress('app', three.port)));
        expect(new Set(moved.applies.map(({ outcome }) => outcome))).toEqual(new Set(['runtime']));
        for (const { pod } of pods) expect(await answerOf(pod, 'app')).toBe('three');

        const loaded = await measured('a reload', () =>
          controller.put(ingress('app', three.port, { note: 'a' })),
        );
        expect(loaded.applies.map(({ outcome }) => outcome)).toEqual(pods.map(() => 'reload'));
        expect(mostAtOnce(loaded.applies)).toBeLessThanOrEqual(AT_ONCE);
        const [leader, ...others] = loaded.applies.toSorted((a, b) => a.from - b.from);
        expect(Math.min(...others.map(({ from }) => from))).toBeGreaterThanOrEqual(leader!.to + SOAK_MS);
        // However many they are.
        for (const { requests, outcomes } of [moved, loaded]) {
          expect(requests).toBeLessThan(12);
          expect(outcomes).toBeLessThan(6);
        }

        process.kill(silent.pid, 'SIGSTOP');
        onCleanup(() => void process.kill(silent.pid, 'SIGCONT'));
        const put = (note: string, { port }: Origin) => controller.put(ingress('app', port, { note }));
        const beside = await measured('a reload beside silent pods', () => put('b', three), [present]);
        expect(mostAtOnce(beside.applies)).toBeLessThanOrEqual(AT_ONCE);
        expect(beside.took).toBeLessThan(SILENT_MS + loaded.took * 5);
        await measured('endpoints beside silent pods', () => put('b', two), [present]);
        process.kill(silent.pid, 'SIGCONT');
        const plan = controller.status().dispatched;
        for (const { address } of silent.pods) {
          const isThere = async (): Promise<boolean> => {
            const { applied, inStep } = await found.stateOf(address);
            return applied === plan && inStep;
          };
          await until(isThere, DEADLINE);
        }
        for (const { pod } of pods) expect(await answerOf(pod, 'app')).toBe('two');
        figures.push(`heap: ${heap().toFixed(1)} MiB in the end`);
        console.log(`${PODS} pods\n${figures.join('\n')}`);
      },
    );
  },
  ['3.4'],
);
