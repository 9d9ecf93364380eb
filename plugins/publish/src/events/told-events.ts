import { hash } from 'node:crypto';
import { z } from '@haptic/core/contract';
import type { Occurrence } from '@haptic/kube';

/** Of what holds on, such as a refused object, what its owners have been told: digests, the latest last. */
export const toldEvents = z.strictObject({ version: z.literal(1), told: z.array(z.string()) });
export const NOTHING_TOLD: z.output<typeof toldEvents> = { version: 1, told: [] };

/** Outlives the term in which it was told, so that nobody is told the same by each new leader. */
export interface EventMemory {
  /** @throws Retry when it cannot be read now */
  recall(term: AbortSignal): Promise<readonly string[]>;
  keep(told: readonly string[]): void;
}

/** What is more is told again by the next leader. */
const MOST_KEPT = 3_000;

export function latest(told: Iterable<string>): readonly string[] {
  return [...told].slice(-MOST_KEPT);
}

/** @param about What else tells it from others in the same words. */
export function digestOf(occurrence: Occurrence, about = ''): string {
  const { regarding, type, reason, action, note } = occurrence;
  const { apiVersion, kind, namespace, name, uid } = regarding;
  const text = JSON.stringify([apiVersion, kind, namespace, name, uid, type, reason, action, note, about]);
  return hash('sha256', text, 'hex').slice(0, 16);
}
