import type { AgentState } from '@haptic/agent/protocol';
import { expect, test } from 'vitest';
import { describeState } from './agent-state.ts';

const empty: AgentState = {
  protocol: 1,
  agentVersion: '1',
  ops: [],
  haproxyVersion: null,
  master: null,
  worker: null,
  paths: { base: '/base', workerSocket: '/run/worker.sock' },
  generation: 0,
  applied: null,
  running: null,
  inStep: false,
  lkg: null,
  token: null,
  pendingReload: null,
  pendingDeletes: [],
  lastApply: null,
};
const plain = (_tone: string, text: string): string => text;

test('a state that has nothing says so', () => {
  expect(describeState(empty, plain)).toBe(`\
applied          nothing yet
HAProxy          does not answer
in step          no, and what it runs is not known
last known good  none`);
});

test('a state in the middle of something says in what', () => {
  const state: AgentState = {
    ...empty,
    haproxyVersion: '3.4.7',
    worker: { pid: 7, startedAt: 0 },
    generation: 4,
    applied: 'new',
    running: 'old',
    lkg: 'old',
    token: { epoch: 2, seq: 3 },
    files: { 'haproxy.cfg': '0' },
    plan: { chunks: ['a', 'b'], data: {} },
    drift: ['maps/a.map'],
    pendingReload: { planId: 'new', dueMs: 1_200.4 },
    pendingDeletes: ['server a/b'],
    lastApply: {
      outcome: 'rejected',
      planId: 'old',
      generation: 3,
      stage: 'reload',
      message: 'no such keyword',
      rolledBack: true,
      fellBack: true,
      skew: ['op x'],
      durationMs: 5,
    },
  };
  expect(describeState(state, plain)).toBe(`\
applied          new, generation 4
HAProxy          3.4.7, worker 7 since 1970-01-01T00:00:00.000Z
in step          no, it loaded old
last known good  old
reload           due in 1201 ms
to be deleted    server a/b
last apply       rejected (reload), fell back, rolled back, does not know op x, in 5 ms: no such keyword
newest token     epoch 2, number 3
files            1
stored plan      2 parts
drift            maps/a.map`);
});
