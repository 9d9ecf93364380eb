import { expect, it } from 'vitest';
import type { Pipeline } from '../pipeline/index.ts';
import { fakeClock, memoryLog } from '../testing/index.ts';
import type { Unjudged } from './pending-checks.ts';
import { RenderGate } from './render-gate.ts';

it('a check that fails is no verdict: the gate latches, and HAProxy is asked again', async () => {
  const clock = fakeClock();
  const settled: string[] = [];
  const unanswered: string[] = [];
  let fails = true;
  const pipeline: Pick<Pipeline, 'settle' | 'recall'> = {
    settle: async ({ candidate: { rendered } }) => {
      if (fails) throw new Error('no memory');
      const passed = { kind: 'passed', findings: [] } as const;
      return { rendered, verdict: passed, haproxy: passed, durations: { renderMs: 0, judgeMs: 0 } };
    },
    recall: () => Promise.reject(new Error('not asked here')),
  };
  const gate = new RenderGate<Unjudged>({
    pipeline,
    clock,
    log: memoryLog(),
    pods: () => [],
    underWay: () => [],
    backoff: () => 1_000,
    onSettled: ({ deferred }) => settled.push(deferred.candidate.rendered.plan.id),
    onUnanswered: (_release, reason) => unanswered.push(reason),
  });
  const { signal } = new AbortController();
  gate.enter({ leader: true, epoch: 1, signal }, signal);
  gate.open();
  gate.submit({ deferred: { candidate: { rendered: { plan: { id: 'plan' } } } } } as unknown as Unjudged);
  await clock.advance(0);
  expect(unanswered).toEqual(['no memory']);
  expect(gate.status).toMatchObject({ state: 'latched', reason: 'no-verdict', pending: ['plan'] });
  fails = false;
  await clock.advance(1_000);
  expect(settled).toEqual(['plan']);
});
