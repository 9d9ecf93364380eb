import { expect, test as always } from 'vitest';
import { FoundPods, whyNoFoundPods, type AgentPod } from '../agent/found-pods.ts';
import { origin } from '../haproxy/origin.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { answerOf, gatedHaproxy, ingress, startLeading, type Leading } from './real-pods.ts';

const LONG = { deadlineMs: 40_000 };

/** More than are held when nobody says whose fault it is: then all of a render is. */
const MANY = ['a', 'b', 'c', 'd', 'e', 'f'];

async function runs(pods: readonly AgentPod[], plan: string, controller: Leading): Promise<void> {
  for (const { name, state } of pods) {
    const inStep = async (): Promise<boolean> => {
      const { applied, inStep: isInStep } = await state();
      if (applied !== plan || !isInStep) throw new Error(`it runs ${applied}`);
      return true;
    };
    await until(inStep, { ...LONG, what: `${name} runs ${plan}` }).catch((error: Error) => {
      throw new Error(`${error.message}\n${JSON.stringify(controller.log.records.slice(-20), undefined, 1)}`);
    });
  }
}

const answers = (pods: readonly AgentPod[], host: string): Promise<string[]> =>
  Promise.all(pods.map(({ pod }) => answerOf(pod, host)));

const reason = whyNoFoundPods();
const test = always.skipIf(reason !== undefined);

forEachVersion(
  ({ binary }) => {
    test.each([
      ['HAProxy refuses', 'refuse', /a-word-that-nobody-knows/, 'latched'],
      ['no template makes', 'fail', /a note that nobody can read/, 'open'],
    ])(
      'a pod that comes while there is only what %s gets all of the last accepted plan',
      { timeout: 120_000 },
      async (_, note, words, gate) => {
        const app = await origin('app');
        const found = await FoundPods.open();
        const [first, second, third] = (await Promise.all(
          ['first', 'second', 'third'].map((name) => found.start(name, binary)),
        )) as [AgentPod, AgentPod, AgentPod];
        found.enter(first);
        const controller = await startLeading({
          judge: binary,
          objects: MANY.map((name) => ingress(name, app.port)),
          deploy: found.options,
          plugins: [{ plugin: found.plugin }],
          spec: { agent: { port: found.port, waves: { soak: '0s' } } },
        });
        await until(() => controller.status().gate?.state === 'open', LONG);
        // The last one that is accepted reaches the first pod by operations alone.
        controller.put(ingress('late', app.port));
        await until(() => controller.status().plan?.backends['late'], LONG);
        const accepted = controller.status().plan!.id;
        await runs([first], accepted, controller);
        expect((await first.state()).running).not.toBe(accepted);

        controller.put(...MANY.map((name) => ingress(name, app.port, { note })), ingress('next', app.port));
        await until(() => words.test(controller.status().problem?.message ?? ''), LONG);
        await until(() => controller.status().gate?.state === gate, LONG);
        expect(controller.status().quarantine).toEqual([]);
        found.enter(second);
        await runs([second], accepted, controller);
        expect(await second.state()).toMatchObject({ running: accepted, lkg: accepted });
        expect(await second.pod.tree()).toEqual(await first.pod.tree());
        for (const host of [...MANY, 'late']) expect(await answerOf(second.pod, host)).toBe('app');
        expect(await answers([first, second], 'next')).toEqual(['503', '503']);

        // It goes on being refused, whoever comes.
        controller.put(ingress('other', app.port));
        found.enter(third);
        await runs([first, second, third], accepted, controller);
        expect(controller.status()).toMatchObject({ plan: { id: accepted }, dispatched: accepted });
        expect(await answers([first, second, third], 'late')).toEqual(['app', 'app', 'app']);

        controller.put(...MANY.map((name) => ingress(name, app.port, { note: 'better' })));
        await until(() => controller.status().plan?.backends['other'], LONG);
        await until(() => controller.status().gate?.pending.length === 0, LONG);
        await runs([first, second, third], controller.status().plan!.id, controller);
        for (const host of ['a', 'late', 'next', 'other'])
          expect(await answers([first, second, third], host)).toEqual(['app', 'app', 'app']);
      },
    );

    test(
      'a pod that comes while HAProxy gives no answer gets what the others have',
      { timeout: 120_000 },
      async () => {
        const app = await origin('app');
        const found = await FoundPods.open();
        const [first, second] = (await Promise.all(
          ['first', 'second'].map((name) => found.start(name, binary)),
        )) as [AgentPod, AgentPod];
        found.enter(first);
        const gated = await gatedHaproxy(binary);
        const controller = await startLeading({
          judge: gated.binary,
          objects: [ingress('a', app.port)],
          deploy: found.options,
          plugins: [{ plugin: found.plugin }],
          spec: { agent: { port: found.port, waves: { soak: '0s' } } },
        });
        await until(() => controller.status().gate?.state === 'open', LONG);
        const accepted = controller.status().plan!.id;
        await runs([first], accepted, controller);
        await until(() => controller.status().gate?.pending.length === 0, LONG);
        await gated.close();
        controller.put(ingress('b', app.port));
        await until(() => controller.status().dispatched !== accepted, LONG);
        const out = controller.status().dispatched!;
        await runs([first], out, controller);
        found.enter(second);
        await runs([second], out, controller);
        expect(await answers([first, second], 'b')).toEqual(['app', 'app']);
        // Its own HAProxy has loaded it; that all judges have passed it is yet to be told.
        expect(controller.status()).toMatchObject({ plan: { id: accepted }, gate: { pending: [out] } });
        await gated.letOne();
        await until(() => controller.status().plan?.id === out, LONG);
        for (const { state } of [first, second]) await until(async () => (await state()).lkg === out, LONG);
      },
    );
  },
  ['3.4'],
);
