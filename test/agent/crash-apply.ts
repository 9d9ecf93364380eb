import { expect } from 'vitest';
import { request } from '../haproxy/raw-request.ts';
import { applyOf, planIdOf, type Files } from './plan.ts';
import type { Pod } from './pod.ts';

/** Where an apply can be cut short, in order; a step that occurs several times with its number. */
export const KILL_POINTS = [
  'entered',
  'staging',
  'staged-file:1',
  'staged-file:2',
  'staged-file:3',
  'staged-files',
  'staged',
  'pointed',
  'committed',
  'pointed:2',
  'loaded',
  'answered',
  // The first is at the start.
  'collecting:2',
] as const;

export interface Applied {
  readonly files: Files;
  readonly seq: number;
}

/**
 * Kills the agent in the middle of an apply, and looks: at every moment the tree is the old set or the new one, the next start
 * leaves nothing behind, and the same request again ends as if nothing had happened.
 */
export async function killedApply(pod: Pod, killAt: string, before: Applied, files: Files): Promise<Applied> {
  const agent = await pod.startAgent({ 'kill-at': killAt });
  const message = applyOf(files, {
    token: { epoch: 1, seq: before.seq + 1 },
    expect: planIdOf(before.files),
  });
  await expect(pod.apply(message)).rejects.toThrow(/hang up|ECONNRESET/);
  expect(await agent.ended).toBe('SIGKILL');

  const left = await pod.tree();
  expect([before.files, files], `tree after ${killAt}`).toContainEqual(left);

  const next = await pod.startAgent();
  expect([before.files, files], `tree after the start`).toContainEqual(await pod.tree());
  expect((await pod.trees()).filter((name) => name.endsWith('.new'))).toEqual([]);
  expect(await pod.state('verify=1')).toMatchObject({ drift: [] });
  const { status, body } = await pod.apply(message);
  expect({ status, ...body }, `repeat after ${killAt}`).toMatchObject({
    status: 200,
    outcome: 'reload',
    planId: planIdOf(files),
  });
  expect(await pod.tree()).toEqual(files);
  expect((await request(pod.port)).status).toBe(200);
  expect(await pod.state()).toMatchObject({ inStep: true, lkg: planIdOf(files), applied: planIdOf(files) });
  await next.kill('SIGTERM');
  return { files, seq: before.seq + 1 };
}
