import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls until the condition gives something truthy and returns that; a throw counts as "not yet". The one way in which tests
 * wait.
 * @throws Error with the last value or failure when the deadline passes.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { deadlineMs = 10_000, what = 'condition' }: { readonly deadlineMs?: number; readonly what?: string } = {},
): Promise<Exclude<T, undefined | null | false | 0 | ''>> {
  const deadline = performance.now() + deadlineMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    const outcome = await attempt(condition);
    if ('value' in outcome && outcome.value) {
      return outcome.value as Exclude<T, undefined | null | false | 0 | ''>;
    }
    if (performance.now() > deadline) {
      const last = 'error' in outcome ? outcome.error : undefined;
      const words = last instanceof Error ? last.message : String('value' in outcome ? outcome.value : last);
      throw new Error(`${what}: not met within ${deadlineMs} ms, last: ${words}`, { cause: last });
    }
    await sleep(pause);
  }
}

async function attempt<T>(condition: () => T | Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await condition() };
  } catch (error) {
    return { error };
  }
}
