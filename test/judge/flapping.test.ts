import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { percentile } from './percentile.ts';
import { ingress, startController, type StartedController } from './start-controller.ts';

const GOOD = 100;
const NAMESPACES = 5;
const PHASE_MS = 3_000;
const ROUNDS = 2;
/** Enough to see how the waits grow. */
const REFUSALS = 5;

/** Whatever else this machine does may take one measurement; not all of them. */
const ATTEMPTS = 3;
const MOST_SLOWDOWN = 3;

const LONG = { deadlineMs: 60_000 };

type Bad = (name: string, version: number) => KubeObject;

const inNamespace = (name: string, port: number): KubeObject => ingress(name, { namespace: name, port });

const refusedBy: Readonly<Record<string, Bad>> = {
  HAProxy: (name, version) =>
    ingress(name, {
      namespace: name,
      port: 2_000 + version,
      keywords: ['check', 'inter', `never-${version}`],
    }),
  'a template': (name, version) => {
    const object = inNamespace(name, 1);
    return { ...object, spec: { ...(object.spec as object), version } };
  },
};

/** Resolves when the pods have the port. */
function deployed({ fleet }: StartedController, name: string, port: number): Promise<void> {
  return new Promise((resolve) => {
    fleet.onDeployment = ({ rendered: { plan } }) => {
      if (plan.backends[name]?.servers.some((server) => server.port === port)) resolve();
    };
  });
}

/** Changes objects of everybody else, one after the other. */
class Others {
  readonly #run: StartedController;
  #changes = 0;

  constructor(run: StartedController) {
    this.#run = run;
  }

  static objects(): readonly KubeObject[] {
    return Array.from({ length: GOOD }, (_, index) => Others.#object(index, 8080));
  }

  static #object(index: number, port: number): KubeObject {
    return ingress(`app-${index}`, { namespace: `ns-${index % NAMESPACES}`, port });
  }

  /** How long each change took until pods had it. */
  async change(): Promise<number[]> {
    const end = performance.now() + PHASE_MS;
    const times: number[] = [];
    while (performance.now() < end) {
      const change = ++this.#changes;
      const [index, port] = [change % GOOD, 10_000 + change];
      const start = performance.now();
      const arrived = deployed(this.#run, `app-${index}`, port);
      this.#run.put(Others.#object(index, port));
      await arrived;
      times.push(performance.now() - start);
      // Not in step with the pace of renders.
      await sleep(change % 20);
    }
    return times;
  }
}

/** As nasty as it can be: bad until it is refused, good until it is let go, and never the same twice. */
class Flapping {
  readonly name: string;
  readonly #run: StartedController;
  readonly #bad: Bad;
  #version = 0;

  constructor(run: StartedController, name: string, bad: Bad) {
    this.name = name;
    this.#run = run;
    this.#bad = bad;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    const ended = new AbortController();
    const flapping = this.#flap(ended.signal);
    try {
      return await work();
    } finally {
      ended.abort();
      await flapping;
    }
  }

  /** When each version was refused that was. */
  refusals(): readonly number[] {
    const times = new Map<string, number>();
    for (const { added, changed, at } of this.#run.quarantined) {
      for (const { object, revision } of [...added, ...changed]) {
        if (object.name === this.name && !times.has(revision)) times.set(revision, at);
      }
    }
    return [...times.values()];
  }

  isHeld(): boolean {
    const held = this.#run.controller.status().quarantine ?? [];
    return held.some(({ object }) => object.name === this.name);
  }

  /** Pods are to have a good version with this port. */
  isServed(port: number): boolean {
    const servers = this.#run.controller.status().plan?.backends[this.name]?.servers ?? [];
    return !this.isHeld() && servers.some((server) => server.port === port);
  }

  mend(port: number): void {
    this.#run.put(inNamespace(this.name, port));
  }

  async #flap(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const version = ++this.#version;
      const [refused, port] = [this.refusals().length, 3_000 + version];
      const isBad = version % 2 === 1;
      if (isBad) this.#run.put(this.#bad(this.name, version));
      else this.mend(port);
      const isDone = (): boolean => (isBad ? this.refusals().length > refused : this.isServed(port));
      while (!isDone() && !signal.aborted) await sleep(5);
    }
  }
}

async function slowdown(others: Others, flapping: Flapping): Promise<number> {
  const quiet: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    quiet.push(...(await others.change()));
    beside.push(...(await flapping.during(() => others.change())));
  }
  const ratio = percentile(beside, 0.99) / percentile(quiet, 0.99);
  const at = (values: readonly number[]): string =>
    [0.5, 0.99].map((share) => Math.round(percentile(values, share))).join(' / ');
  console.log(
    `change to pods p50 / p99: ${at(quiet)} ms of ${quiet.length}, beside one that flaps ${at(beside)} ms of ${beside.length}: ${ratio.toFixed(2)}x`,
  );
  return ratio;
}

forEachVersion(
  ({ binary }) => {
    test.each(Object.keys(refusedBy))(
      'an object that flaps and is refused by %s slows nobody else down',
      { timeout: 240_000 },
      async (refuser) => {
        const run = await startController({ judge: { binary }, objects: Others.objects() });
        await until(() => run.controller.status().gate?.state === 'open', LONG);
        const others = new Others(run);
        const tried: Flapping[] = [];
        let ratio = Infinity;
        // Each with a namespace that nobody knows anything of yet.
        while (tried.length < ATTEMPTS && ratio > MOST_SLOWDOWN) {
          const flapping = new Flapping(run, `flapping-${tried.length}`, refusedBy[refuser]!);
          tried.push(flapping);
          ratio = await slowdown(others, flapping);
        }
        expect(ratio).toBeLessThanOrEqual(MOST_SLOWDOWN);

        const flapping = tried.at(-1)!;
        const seen = (): boolean => flapping.refusals().length >= REFUSALS;
        await flapping.during(() => until(seen, LONG));
        const refusals = flapping.refusals();
        const waits = refusals.slice(1).map((at, index) => at - refusals[index]!);
        console.log(`refused ${refusals.length} times, after ${waits.map(Math.round).join(', ')} ms`);
        // Two more after the first at once, then it waits for twice as long each time.
        for (const [index, wait] of waits.slice(2).entries()) {
          expect(wait).toBeGreaterThan(900 * 2 ** index);
        }

        flapping.mend(4_000);
        await until(() => flapping.isServed(4_000), LONG);
        const everHeld = run.quarantined.flatMap(({ all }) => all.map(({ object }) => object.namespace));
        expect(new Set(everHeld)).toEqual(new Set(tried.map(({ name }) => name)));
        expect(run.controller.status()).toMatchObject({ gate: { state: 'open' } });
      },
    );
  },
  ['3.4'],
);
