import { expect } from 'vitest';
import { pemFor } from './certificates.ts';
import type { Scenario, Texts } from './fault-scenarios.ts';
import type { FaultyPod } from './faulty-pod.ts';

/** A moment of an apply. */
export interface Point {
  readonly scenario: Scenario;
  /** `step:n` */
  readonly at: string;
}

export async function textsForFaults(): Promise<Texts> {
  const [pem, otherPem] = await Promise.all([pemFor('a.test'), pemFor('a.test')]);
  return { pem, otherPem };
}

/** Every moment of every scenario, as it goes when nothing is disturbed. */
export async function pointsOf(faulty: FaultyPod, rows: readonly Scenario[]): Promise<readonly Point[]> {
  const points: Point[] = [];
  for (const scenario of rows) {
    const attempt = await faulty.prepare(scenario);
    await faulty.pod.order('trace');
    const reply = await faulty.send(attempt);
    expect(reply?.body.outcome, `${scenario.name}: ${JSON.stringify(reply)}`).toBe(scenario.outcome);
    await faulty.expectSettled(attempt, scenario.name);
    const trace = await faulty.pod.orderNothing();
    await faulty.expectRepeatable(attempt, scenario, scenario.name);
    points.push(...trace.map((at) => ({ scenario, at })));
  }
  return points;
}

export function stepOf({ at }: Point): string {
  return at.replace(/:\d+$/, '');
}
