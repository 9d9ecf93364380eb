import { isDeepStrictEqual } from 'node:util';
import type { DeclaredCondition } from './declared-conditions.ts';

/** A condition of a live object, whoever wrote it. */
export type LiveCondition = Readonly<Record<string, unknown>>;

/** The conditions of an object that nobody has checked. */
export function conditionsOf(object: Readonly<Record<string, unknown>>): readonly LiveCondition[] {
  const { conditions } = (object['status'] ?? {}) as { readonly conditions?: unknown };
  return Array.isArray(conditions) ? (conditions as LiveCondition[]) : [];
}

/**
 * The conditions as they should be: ours where they stood, others untouched.
 *
 * @param written Types that were ours before.
 * @param time For those that change.
 * @returns undefined where nothing is to be changed
 */
export function mergeConditions(
  live: readonly LiveCondition[],
  ours: readonly DeclaredCondition[],
  written: ReadonlySet<string>,
  time: string,
): readonly LiveCondition[] | undefined {
  const wanted = new Map(ours.map((condition) => [condition.type, condition]));
  const there = new Set<unknown>();
  const next = live.flatMap((condition): readonly LiveCondition[] => {
    const type = condition['type'] as string;
    const own = wanted.get(type);
    if (own === undefined) return written.has(type) ? [] : [condition];
    there.add(type);
    return [timed(own, condition, time)];
  });
  const added = ours.filter(({ type }) => !there.has(type)).map((own) => timed(own, undefined, time));
  const all = [...next, ...added];
  return isDeepStrictEqual(all, live) ? undefined : all;
}

function timed(own: DeclaredCondition, before: LiveCondition | undefined, time: string): LiveCondition {
  const last = before?.['status'] === own.status ? before['lastTransitionTime'] : undefined;
  return { ...own, lastTransitionTime: typeof last === 'string' ? last : time };
}
