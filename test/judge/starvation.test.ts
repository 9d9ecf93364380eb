import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { timedHaproxy, type CheckTime } from './check-times.ts';
import { percentile } from './percentile.ts';
import { ingress, startController, type StartedController } from './start-controller.ts';

const BACKENDS = 500;
/** What makes a check take long, not a render. */
const PATTERNS = 3_000;
const RULES = `{% section "rules" %}
frontend rules from base
    bind 127.0.0.1:65001
    http-request deny if { path -m reg -f {{ path("file", "rules") }} }
{% endsection %}
`;
const patterns = Array.from({ length: PATTERNS }, (_, index) => `^/(shop|app)+/${index}/.*\\.(css|js)$`);

const CALLERS = 2;
/** What the API server waits for a webhook. */
const ADMISSION_MS = 10_000;
const CHANGE_EVERY_MS = 10;
const PHASE_MS = 1_500;
/** Of each caller in a phase, however slow everything is. */
const LEAST_PROPOSALS = 3;
const ROUNDS = 3;
const PROPOSED = 'proposed';

/** Whatever else this machine does may take one measurement; not all of them. */
const ATTEMPTS = 3;
const MOST_SLOWDOWN = 2.5;
/** Timers end a bit early. */
const REST_MS = 2;

const LONG = { deadlineMs: 60_000 };

interface Span {
  readonly start: number;
  readonly end: number;
}

/** How long each of the proposals took that were made in a row until then. */
async function propose({ controller }: StartedController, end: number): Promise<number[]> {
  const times: number[] = [];
  while (performance.now() < end || times.length < LEAST_PROPOSALS) {
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

  /** Ends when the newest plan is judged. */
  async around<T>(work: () => Promise<T>): Promise<T> {
    const ended = new AbortController();
    const start = Date.now();
    const blowing = this.#blow(ended.signal);
    try {
      return await work();
    } finally {
      ended.abort();
      await blowing;
      await settled(this.#run);
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
  }
  return { quiet, stormy };
}

async function settled({ controller }: StartedController): Promise<void> {
  await until(() => {
    const { plan, dispatched, gate } = controller.status();
    return plan?.id === dispatched && gate?.state === 'open' && gate.pending.length === 0;
  }, LONG);
}

/** The share of the time that checks took, each with the rest behind it; and the shortest rest, less the check before. */
function dutyOf(checks: readonly CheckTime[], spans: readonly Span[]): { duty: number; least: number } {
  const ordered = checks.toSorted((a, b) => a.start - b.start);
  const pairs = ordered
    .slice(1)
    .map((next, index) => ({ run: ordered[index]!, next }))
    .filter(({ run, next }) => spans.some(({ start, end }) => start < run.start && next.start < end))
    .map(({ run, next }) => ({ runMs: run.end - run.start, restMs: next.start - run.end }));
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
  const runMs = sum(pairs.map((pair) => pair.runMs));
  const restMs = sum(pairs.map((pair) => pair.restMs));
  return {
    duty: runMs / (runMs + restMs),
    least: Math.min(...pairs.map((pair) => pair.restMs - pair.runMs)),
  };
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
          more: RULES,
          files: { rules: `${patterns.join('\n')}\n` },
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
        const { duty, least } = dutyOf(inBackground, storm.spans);
        const unjudged = run.fleet.deployments.filter(({ validated }) => !validated).length;
        console.log(
          `in the storm: ${unjudged} plans went out before they were judged, ${inBackground.length} checks of them took ${Math.round(duty * 100)} % of the time, beside ${withWord.length} of proposals`,
        );
        expect(slowdown).toBeLessThanOrEqual(MOST_SLOWDOWN);
        expect(duty).toBeLessThanOrEqual(0.5);
        expect(least).toBeGreaterThan(-REST_MS);
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
