import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runAgent } from '@haptic/agent';
import type { Clock } from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { onCleanup } from '../haproxy/cleanup.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion, versionsOfOwnLogic } from '../haproxy/versions.ts';
import { startController } from './controller.ts';
import { Pod, TOKEN } from './pod.ts';
import { renderedOf } from './rendered.ts';

/** Goes as the system's does, and can be put forward. */
class ForwardClock implements Clock {
  #ahead = 0;
  now(): number {
    return systemClock.now() + this.#ahead;
  }

  wall(): number {
    return systemClock.wall();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms, signal);
  }

  forward(ms: number): void {
    this.#ahead += ms;
  }
}

async function startAgent(pod: Pod, clock: Clock): Promise<void> {
  const stop = new AbortController();
  const { baseDir, socketDir, apiSocket } = pod;
  const options = { baseDir, socketDir, listen: { socketPath: apiSocket }, token: { value: TOKEN } };
  const running = runAgent({ ...options, version: '1', log: memoryLog(), clock, signal: stop.signal });
  onCleanup(async () => {
    stop.abort();
    await running;
  });
  await until(() => pod.state());
}

forEachVersion(({ binary }) => {
  test('what HAProxy refused is tried again after a minute, by the controller and by the agent', async () => {
    const clocks = { agent: new ForwardClock(), controller: new ForwardClock() };
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await startAgent(pod, clocks.agent);
    const tokenFile = join(pod.dir, 'token');
    const options = { mode: 'static', pods: [{ name: 'pod-0', socketPath: pod.apiSocket, tokenFile }] };
    const controller = await startController(options, { clock: clocks.controller });
    await until(() => controller.fleet.facts().haproxyVersion);
    await controller.deploy(renderedOf(pod.site('good')));

    const page = join(pod.dir, '503.http');
    const bad = renderedOf(pod.site('bad', { extra: `errorfile 503 ${page}` }));
    const refused = { result: 'rejected', stage: 'reload' };
    const lastApply = async () => (await pod.state()).lastApply;
    expect(await controller.deploy(bad)).toMatchObject([refused]);
    expect(await lastApply()).toMatchObject({ outcome: 'rejected', rolledBack: true });
    // It would do from now on, and nobody knows.
    await writeFile(page, 'HTTP/1.0 503 Service Unavailable\r\n\r\n');

    const { token } = await pod.state();
    clocks.controller.forward(50_000);
    expect(await controller.deploy(bad), 'not yet').toMatchObject([refused]);
    expect((await pod.state()).token, 'the agent is not even asked').toEqual(token);

    clocks.controller.forward(10_000);
    expect(await controller.deploy(bad), 'the agent has a memory of its own').toMatchObject([refused]);
    expect(await lastApply()).toMatchObject({ outcome: 'rejected', rolledBack: false });
    clocks.agent.forward(50_000);
    clocks.controller.forward(60_000);
    expect(await controller.deploy(bad), 'as long as the first time').toMatchObject([refused]);
    expect(await lastApply()).toMatchObject({ outcome: 'rejected', rolledBack: false });

    clocks.agent.forward(10_000);
    clocks.controller.forward(60_000);
    expect(await controller.deploy(bad)).toMatchObject([{ result: 'reload' }]);
  });
}, versionsOfOwnLogic);
