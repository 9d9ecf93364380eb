import { expect } from 'vitest';
import { until } from '../../haproxy/until.ts';
import type { faults } from './faults.ts';
import type { Prober } from './prober.ts';
import type { Scene } from './scene.ts';

export type Fault = readonly [words: string, harm: (typeof faults)[keyof typeof faults]];

/**
 * Puts an installation through a fault: no answer is wrong meanwhile, and what was written during it serves afterwards. Returns how long
 * that took once the fault was over, milliseconds.
 */
export async function outlive(scene: Scene, prober: Prober, [words, harm]: Fault): Promise<number> {
  let host = '';
  const write = async (): Promise<void> => {
    host = await scene.write();
  };
  try {
    await harm(scene, write);
    const mended = performance.now();
    await scene.untilServed(host);
    await until(() => prober.set === scene.set, { deadlineMs: 90_000, what: 'the last set serves' });
    const ms = performance.now() - mended;
    await scene.expectConsistent();
    expect(prober.wrong, 'answers to who asks all the time').toEqual([]);
    await scene.delete(host);
    await scene.untilGone(host);
    return ms;
  } catch (cause) {
    throw new Error(`after: ${words}\n${String(cause)}\n${scene.words()}`, { cause });
  }
}
