import { setImmediate as turn } from 'node:timers/promises';

/**
 * Resolves when everything that has arrived at this process by now was told: the event loop asks the kernel between its turns,
 * and the first one may be the rest of a turn that has asked already.
 */
export async function allArrived(): Promise<void> {
  await turn();
  await turn();
}
