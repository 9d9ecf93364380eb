import type { Candidate, Verdict } from '../contract/finding.ts';
import type { Clock, Log } from '../contract/observability.ts';
import type { PluginDefinition } from '../contract/plugin.ts';
import { controllerRules, createHooks } from '../host/controller-hooks.ts';
import { Host } from '../host/host.ts';
import type { ServiceOffer } from '../host/services.ts';
import { runJudges } from '../pipeline/judges.ts';
import { memoryLog } from './memory-log.ts';

export interface AskJudgeOptions {
  readonly options?: unknown;
  readonly services?: readonly ServiceOffer[];
  readonly log?: Log;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** The verdict of one judge on a candidate, asked as the pipeline asks it. */
export async function askJudge(
  plugin: PluginDefinition,
  candidate: Candidate,
  {
    options,
    services = [],
    log = memoryLog(),
    clock,
    signal = new AbortController().signal,
  }: AskJudgeOptions = {},
): Promise<Verdict> {
  if (plugin.judge === undefined) throw new TypeError(`${plugin.name} declares no judge kind`);
  await using host = await Host.start({
    hooks: createHooks(),
    observers: controllerRules.observers,
    plugins: [{ plugin, options }],
    services,
    log,
    ...(clock === undefined ? {} : { clock }),
  });
  return await runJudges(host, [plugin.judge], candidate, { signal, caller: 'validate' });
}
