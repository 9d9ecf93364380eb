import type { Clock, Fleet, JudgeBinary, Log, ResourceSource } from '../contract/index.ts';
import { withDeadline } from '../host/deadline.ts';
import type { Pipeline } from '../pipeline/index.ts';
import type { RenderedOnce } from './api.ts';
import { fleetFacts } from './fleet-facts.ts';
import { Watching } from './watching.ts';

export interface RenderOnceParts {
  readonly pipeline: Pipeline;
  readonly source: ResourceSource;
  readonly fleet: Fleet | undefined;
  readonly judge: JudgeBinary;
  readonly clock: Clock;
  readonly log: Log;
}

/** Loads, fills a store once, renders and, where wanted, judges. @throws Refused */
export async function renderOnce(
  { pipeline, source, fleet, judge, clock, log }: RenderOnceParts,
  signal: AbortSignal,
  judging: boolean,
): Promise<RenderedOnce> {
  const context = { signal, caller: 'validate' } as const;
  const merged = pipeline.merge(await pipeline.load(context));
  const watching = new Watching(source, merged.watchedResources, log);
  try {
    await withDeadline(() => watching.synced(), { ms: Infinity, signal, clock });
    const { config } = pipeline.prepare(merged, ({ watch }) => watching.isServed(watch));
    const subject = { config, view: watching.view(), fleet: await fleetFacts(fleet, judge) };
    if (!judging) return { config, rendered: await pipeline.render(subject, context) };
    const { rendered, verdict } = await pipeline.evaluate(subject, context);
    return { config, rendered, verdict };
  } finally {
    watching.stop();
  }
}
