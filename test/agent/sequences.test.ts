import { randomInt } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { origin, type Origin } from '../haproxy/origin.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion, type Haproxy } from '../haproxy/versions.ts';
import { authorityOf, pemFor } from './certificates.ts';
import { Deployer, sparesFor } from './deployer.ts';
import { worldSequence } from './plan-sequence.ts';
import { Pod } from './pod.ts';
import { coldDump, workerDump } from './worker-dump.ts';
import type { World, WorldServer } from './world.ts';

const isSoak = process.env['HAPTIC_SOAK'] === '1';
/** On each version. */
const sequences = isSoak ? 1_000 : 17;
/** The plans of one sequence follow each other, and the next sequence follows on the same pod. */
const perSequence = 3;
/** Pods side by side. */
const lanes = isSoak ? 4 : 1;
const seed = Number(process.env['HAPTIC_SEED'] ?? randomInt(0x7fff_ffff));

type Texts = Readonly<Record<string, string>>;

/** Texts for their names. */
function mapped(names: Texts, texts: Texts): Texts {
  return Object.fromEntries(Object.entries(names).map(([key, name]) => [key, texts[name] ?? '']));
}

async function textsFor(names: readonly string[], text: (name: string) => Promise<string>): Promise<Texts> {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await text(name)] as const)));
}

/** With the ports of these instead of 1 and 2. */
function reachable(backends: World['backends'], origins: readonly Origin[]): World['backends'] {
  const at = ({ port, ...facts }: WorldServer): WorldServer => ({ ...facts, port: origins[port - 1]!.port });
  return Object.fromEntries(
    Object.entries(backends).map(([name, { body, servers }]) => [
      name,
      { body, servers: Object.fromEntries(Object.entries(servers).map(([key, facts]) => [key, at(facts)])) },
    ]),
  );
}

type Outcomes = Record<string, number>;

async function followSequences({ binary, minor }: Haproxy, lane: number, outcomes: Outcomes): Promise<void> {
  const pod = await Pod.create(binary);
  await pod.startHaproxy();
  await pod.startAgent({ 'longest-response': '0' });
  const deployer = new Deployer(pod, { spareBackends: sparesFor(minor) });
  const pems = await textsFor(['p', 'q', 'r'], pemFor);
  const [one, two] = await Promise.all([authorityOf('s'), authorityOf('t')]);
  const roots = { s: one.pem, t: two.pem };
  const clients = [one.client, two.client];
  const looking = { clients, withAnswers: true };
  const origins = await Promise.all(['x', 'y'].map((name) => origin(name)));

  async function deploy(world: World): Promise<void> {
    const { certificates = {}, authorities = {}, backends } = world;
    const { plan, reply } = await deployer.deploy({
      ...world,
      backends: reachable(backends, origins),
      certificates: mapped(certificates, pems),
      authorities: mapped(authorities, roots),
    });
    const words = `${plan.mode} ${plan.reasons.join()}: ${JSON.stringify(reply.body)}`;
    expect(reply.status, words).toBe(200);
    const key = reply.body.fellBack ? 'fell back' : reply.body.outcome;
    expect(['noop', 'runtime', 'file_only', 'reload'], words).toContain(key);
    outcomes[key] = (outcomes[key] ?? 0) + 1;
    if (key === 'noop') return;
    // Nothing of what is still to be deleted counts as somebody else's doing.
    expect((await pod.state('plan=0&verify=1')).drift, words).toEqual([]);
    await until(async () => (await pod.state('plan=0')).pendingDeletes.length === 0, {
      what: words,
      deadlineMs: 30_000,
    });
    expect(await pod.state('plan=0&verify=1'), words).toMatchObject({ inStep: true, drift: [] });
    expect(await workerDump(pod, looking), words).toEqual(await coldDump(pod, binary, looking));
  }

  const sequence = worldSequence(Object.keys(pems), Object.keys(roots), perSequence);
  await fc.assert(
    fc.asyncProperty(sequence, async (worldsOfOne) => {
      for (const world of worldsOfOne) await deploy(world);
    }),
    { numRuns: Math.ceil(sequences / lanes), endOnFailure: true, seed: seed + lane },
  );
}

forEachVersion((haproxy) => {
  test(
    `after each plan of ${sequences} sequences the worker is what a cold start would give (seed ${seed})`,
    { timeout: 60_000 + sequences * perSequence * 10_000 },
    async () => {
      const outcomes: Outcomes = {};
      await Promise.all(
        Array.from({ length: lanes }, (_, lane) => followSequences(haproxy, lane * 1_000, outcomes)),
      );
      // Sequences that only ever reload would show nothing.
      expect(outcomes['runtime'], JSON.stringify(outcomes)).toBeGreaterThan((sequences * perSequence) / 10);
    },
  );
});
