import { createServer } from 'node:http';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { onCleanup } from '../haproxy/cleanup.ts';
import { request } from '../haproxy/raw-request.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { startController } from './controller.ts';
import { applyOf, planIdOf } from './plan.ts';
import { Pod } from './pod.ts';
import { renderedOf } from './rendered.ts';

const staticOptions = (...pods: readonly Pod[]): object => ({
  mode: 'static',
  pods: pods.map((pod, index) => ({
    name: `pod-${index}`,
    socketPath: pod.apiSocket,
    tokenFile: join(pod.dir, 'token'),
  })),
  applyTimeout: 3_000,
});

forEachVersion(
  ({ binary, minor }) => {
    async function running(): Promise<Pod> {
      const pod = await Pod.create(binary);
      await pod.startHaproxy();
      await pod.startAgent();
      return pod;
    }

    test('reports the pods, deploys, and learns the baseline of another process', async () => {
      const pod = await running();
      const first = await startController(staticOptions(pod));
      await until(() => first.fleet.facts().haproxyVersion);
      expect(first.fleet.facts().haproxyVersion).toMatch(new RegExp(`^${minor}`));
      expect(first.fleet.facts().paths).toEqual({
        base: join(pod.baseDir, 'current'),
        workerSocket: pod.workerSocket,
      });
      const rendered = renderedOf(pod.site('one'));
      expect(await first.deploy(rendered)).toMatchObject([{ pod: 'pod-0', result: 'reload' }]);
      expect(first.fleet.pods()[0]?.baseline).toBe(rendered.plan);
      expect(await first.deploy(rendered)).toMatchObject([{ result: 'noop' }]);
      await first.stop();

      const second = await startController(staticOptions(pod));
      await until(() => second.fleet.pods()[0]?.baseline);
      expect(second.fleet.pods()[0]?.baseline).toEqual(rendered.plan);
      expect(await second.deploy(renderedOf(pod.site('two')))).toMatchObject([{ result: 'reload' }]);
      expect(await pod.state()).toMatchObject({ token: { epoch: 2 } });
    });

    test('a pod of which nothing was known gets what is rendered for it, not what was', async () => {
      const pod = await Pod.create(binary);
      await pod.startHaproxy();
      const agent = await pod.startAgent();
      process.kill(agent.pid, 'SIGSTOP');
      const controller = await startController(staticOptions(pod));
      const rendered = renderedOf(pod.site('one'));
      const early = controller.deploy(rendered);
      process.kill(agent.pid, 'SIGCONT');
      expect(await early).toMatchObject([{ result: 'held', reasons: ['test', 'answered_meanwhile'] }]);
      expect((await pod.state()).token).toBeNull();
      expect(controller.fleet.facts().haproxyVersion).toMatch(new RegExp(`^${minor}`));
      expect(await controller.deploy(rendered)).toMatchObject([{ result: 'reload' }]);
    });

    test('a newer controller takes over, and the older one stands down', async () => {
      const pod = await running();
      const old = await startController(staticOptions(pod));
      const [one, two, three] = ['one', 'two', 'three'].map((text) => renderedOf(pod.site(text)));
      await until(() => old.fleet.facts().haproxyVersion);
      await old.deploy(one!);
      const newer = await startController(staticOptions(pod));
      await until(() => newer.fleet.facts().haproxyVersion);
      expect(await newer.deploy(two!)).toMatchObject([{ result: 'reload' }]);
      expect(await old.deploy(three!)).toMatchObject([
        { result: 'rejected', stage: 'fence', message: 'another controller writes to this agent' },
      ]);
      expect((await request(pod.port)).body.toString()).toBe('two one');
    });

    test('a refusal has the words of HAProxy, and is not tried again at once', async () => {
      const pod = await running();
      const controller = await startController(staticOptions(pod));
      await until(() => controller.fleet.facts().haproxyVersion);
      const good = renderedOf(pod.site('good'));
      await controller.deploy(good);
      const bad = renderedOf(pod.site('bad', { extra: 'bogus' }));
      const outcomes = await controller.deploy(bad);
      expect(outcomes).toMatchObject([{ result: 'rejected', stage: 'reload' }]);
      expect(outcomes[0]?.message).toContain("unknown keyword 'bogus'");
      const { token } = await pod.state();
      expect(await controller.deploy(bad)).toMatchObject([
        { result: 'rejected', message: outcomes[0]?.message },
      ]);
      expect((await pod.state()).token).toEqual(token);
      expect(controller.fleet.pods()[0]?.baseline?.id).toBe(good.plan.id);
    });

    test('files that somebody else put in place are replaced', async () => {
      const pod = await running();
      const controller = await startController(staticOptions(pod));
      await until(() => controller.fleet.facts().haproxyVersion);
      const one = pod.site('one');
      await controller.deploy(renderedOf(one));
      const { token } = await pod.state();
      const foreign = applyOf(pod.site('foreign'), {
        token: { epoch: token!.epoch, seq: token!.seq + 1 },
        expect: planIdOf(one),
      });
      let changes = 0;
      controller.fleet.onChange(() => (changes += 1));
      expect((await pod.apply(foreign)).status).toBe(200);
      await until(() => changes > 0);
      const two = renderedOf(pod.site('two'));
      // Its seq is used up: stale for the agent, and no older controller of ours.
      const outcomes = await controller.deploy(two);
      expect(outcomes[0]?.result).toMatch(/reload/);
      expect((await request(pod.port)).body.toString()).toBe('two one');
    });

    test('a file that somebody changed is found and mended', async () => {
      const pod = await running();
      const controller = await startController({ ...staticOptions(pod), driftInterval: 200 });
      await until(() => controller.fleet.facts().haproxyVersion);
      const files = pod.site('whole');
      const rendered = renderedOf(files);
      await controller.deploy(rendered);
      await writeFile(join(pod.baseDir, 'current', 'maps', 'site.map'), 'key changed\n');
      await until(() => controller.fleet.pods()[0]?.baseline === undefined);
      expect(await controller.deploy(rendered)).toMatchObject([{ result: 'reload' }]);
      expect(await pod.tree()).toEqual(files);
      await until(() => controller.fleet.pods()[0]?.baseline);
    });

    test('an agent or HAProxy that died is noticed, and served again', async () => {
      const [one, two] = [await running(), await Pod.create(binary)];
      await two.startHaproxy();
      const controller = await startController(staticOptions(one, two));
      await until(() => controller.fleet.facts().haproxyVersion);
      const rendered = renderedOf(one.site('here'));
      const outcomes = await controller.deploy(rendered);
      expect(outcomes.toSorted((a, b) => (a.pod < b.pod ? -1 : 1))).toMatchObject([
        { pod: 'pod-0', result: 'reload' },
        { pod: 'pod-1', result: 'unreachable' },
      ]);
      let changes = 0;
      controller.fleet.onChange(() => (changes += 1));
      await two.startAgent();
      await until(() => changes > 0, { what: 'the new agent is noticed' });

      changes = 0;
      process.kill((await one.state()).worker!.pid, 'SIGKILL');
      await until(() => changes > 0, { what: 'the death of the worker is noticed' });
      await until(() => controller.fleet.pods()[0]?.baseline?.id === rendered.plan.id);
    });

    test('an agent that answers nonsense is unreachable, never believed', async () => {
      const pod = await Pod.create(binary);
      const answers = ['', 'x', '{}', '[]', '{"protocol":1}', `{"files":"${'x'.repeat(1_000)}"}`, 'null'];
      let count = 0;
      const server = createServer((_, response) => response.end(answers[count++ % answers.length]));
      server.listen(pod.apiSocket);
      await once(server, 'listening');
      onCleanup(() => void server.close());
      const controller = await startController(staticOptions(pod));
      const outcomes = await controller.deploy(renderedOf(pod.site('x')));
      expect(outcomes).toMatchObject([{ result: 'unreachable' }]);
      expect(outcomes[0]?.message).toMatch(/not an answer|JSON/);
      expect(controller.fleet.pods()[0]).toEqual({ name: 'pod-0', ops: [] });
    });
  },
  ['3.4'],
);
