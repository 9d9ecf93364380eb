import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { timedHaproxy, type CheckTime } from './check-times.ts';
import { percentile } from './percentile.ts';
import { ingress, startController, type StartedController } from './start-controller.ts';

const BACKENDS = 1_500;
const CALLERS = 2;
/** What the API server waits for a webhook. */
const ADMISSION_MS = 10_000;
const CHANGE_EVERY_MS = 10;
const PHASE_MS = 1_500;
const ROUNDS = 3;
const PROPOSED = 'proposed';

/** Whatever else this machine does may take one measurement; not all of them. */
const ATTEMPTS = 3;
const MOST_SLOWDOWN = 2.5;
const MOST_DUTY = 0.6;

const LONG = { deadlineMs: 60_000 };

interface Span {
  readonly start: number;
  readonly end: number;
}

/** How long each of the proposals took that were made in a row until then. */
async function propose({ controller }: StartedController, end: number): Promise<number[]> {
  const times: number[] = [];
  while (performance.now() < end) {
    const object = ingress(PROPOSED, { port: 1_000 + times.length });
    const start = performance.now();
    const answer = await controller.judgeProposal(
      { watch: 'ingresses', object },
      AbortSignal.timeout(ADMISSION_MS),
    );
    times.push(performance.now() - start);
    expect(answer).toEqual({ allowed: true, findings: [] });
  }
  return times;
}

async function phase(run: StartedController): Promise<number[]> {
  const end = performance.now() + PHASE_MS;
  return (await Promise.all(Array.from({ length: CALLERS }, () => propose(run, end)))).flat();
}

/** Objects change all the time, each to something new. */
class Storm {
  readonly spans: Span[] = [];
  readonly #run: StartedController;
  #changes = 0;

  constructor(run: StartedController) {
    this.#run = run;
  }

  get newestPort(): number {
    return 10_000 + (this.#changes % 50_000);
  }

  get newest(): string {
    return `app-${this.#changes % BACKENDS}`;
  }

  async around<T>(work: () => Promise<T>): Promise<T> {
    const ended = new AbortController();
    const start = Date.now();
    const blowing = this.#blow(ended.signal);
    try {
      return await work();
    } finally {
      ended.abort();
      await blowing;
      this.spans.push({ start, end: Date.now() });
    }
  }

  async #blow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#changes++;
      this.#run.put(ingress(this.newest, { port: this.newestPort }));
      await sleep(CHANGE_EVERY_MS);
    }
  }
}

interface Measured {
  readonly quiet: readonly number[];
  readonly stormy: readonly number[];
}

/** In turns, so that what else the machine does meets both alike. */
async function measure(run: StartedController, storm: Storm): Promise<Measured> {
  const quiet: number[] = [];
  const stormy: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    quiet.push(...(await phase(run)));
    stormy.push(...(await storm.around(() => phase(run))));
    await settled(run);
  }
  return { quiet, stormy };
}

async function settled({ controller }: StartedController): Promise<void> {
  await until(() => {
    const { plan, dispatched, gate } = controller.status();
    return plan?.id === dispatched && gate?.state === 'open' && gate.pending.length === 0;
  }, LONG);
}

/** The share of the spans in which one ran. */
function dutyOf(checks: readonly CheckTime[], spans: readonly Span[]): number {
  const within = (span: Span): number =>
    checks
      .map(({ start, end }) => Math.max(0, Math.min(end, span.end) - Math.max(start, span.start)))
      .reduce((sum, ms) => sum + ms, 0);
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  return sum(spans.map(within)) / sum(spans.map(({ start, end }) => end - start));
}

forEachVersion(
  ({ binary }) => {
    test(
      'checks of what is out keep no proposal waiting, however much changes',
      { timeout: 240_000 },
      async () => {
        const timed = await timedHaproxy(binary, PROPOSED);
        const run = await startController({
          judge: { binary: timed.binary },
          objects: Array.from({ length: BACKENDS }, (_, index) => ingress(`app-${index}`)),
        });
        await until(() => run.controller.status().gate?.state === 'open', LONG);
        const storm = new Storm(run);
        let slowdown = Infinity;
        for (let attempt = 0; attempt < ATTEMPTS && slowdown > MOST_SLOWDOWN; attempt++) {
          const { quiet, stormy } = await measure(run, storm);
          slowdown = percentile(stormy, 0.99) / percentile(quiet, 0.99);
          const at = (values: readonly number[]): string =>
            [0.5, 0.99].map((share) => Math.round(percentile(values, share))).join(' / ');
          console.log(
            `admission p50 / p99: ${at(quiet)} ms of ${quiet.length}, in a storm ${at(stormy)} ms of ${stormy.length}: ${slowdown.toFixed(2)}x`,
          );
        }
        const { others, withWord } = await timed.times();
        const inBackground = others.slice(1);
        const duty = dutyOf(inBackground, storm.spans);
        const unjudged = run.fleet.deployments.filter(({ validated }) => !validated).length;
        console.log(
          `in the storm: ${unjudged} plans went out before they were judged, ${inBackground.length} checks of them took ${Math.round(duty * 100)} % of the time, beside ${withWord.length} of proposals`,
        );
        expect(slowdown).toBeLessThanOrEqual(MOST_SLOWDOWN);
        expect(duty).toBeLessThanOrEqual(MOST_DUTY);
        // It was a storm, and it was judged.
        expect(unjudged).toBeGreaterThan(inBackground.length);
        expect(inBackground.length).toBeGreaterThan(ROUNDS);
        const { plan } = run.controller.status();
        expect(plan?.backends[storm.newest]?.servers).toMatchObject([{ port: storm.newestPort }]);
      },
    );
  },
  ['3.4'],
);
