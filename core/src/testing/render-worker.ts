import { parentPort, workerData } from 'node:worker_threads';
import { problemsOf } from './templates.ts';
import type { TemplateSet } from './templates.ts';

/** Renders the template sets it is given one after the other, in a thread of its own whose memory is limited. */
for (const [name, set] of Object.entries(workerData as Readonly<Record<string, TemplateSet>>)) {
  const clock = { now: () => performance.now(), wall: () => 0, sleep: () => Promise.resolve() };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a thread has no origin
  parentPort!.postMessage([name, await problemsOf(set, { clock, deadlineMs: 60_000 })]);
}
