import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OPERATION_NAMES, type DeployPlan, type Rendered, type RenderPlan } from '@haptic/core/contract';
import { ModelWorker } from './model-worker.ts';
import { arbSequence, NOWHERE, render, type Site } from './plan-sequences.ts';
import { sha256 } from '@haptic/core/controller';
import { diff, PlanMemo } from '../../core/src/plan/index.ts';
import { canonicalJson } from '../../core/src/values/canonical-json.ts';

const runs = process.env['HAPTIC_SOAK'] === '1' ? 5_000 : 100;

function isOrdered(map: string): boolean {
  return map === 'maps/regexes.map';
}

function plan(next: Rendered, before: Rendered, haproxyVersion: string, worker?: ModelWorker): DeployPlan {
  return diff({
    next: next.plan,
    pod: {
      name: 'pod',
      baseline: before.plan,
      ops: OPERATION_NAMES,
      haproxyVersion,
      ...(worker && { loadedProfiles: worker.profiles }),
    },
  });
}

/** Follows every host to where its requests end. */
function deadEnds(worker: ModelWorker): readonly string[] {
  const paths = worker.entries('maps/paths.map');
  const spares = worker.entries('maps/spares.map');
  const lists = worker.entries('maps/lists.map');
  const ends: string[] = [];
  for (const [host, table] of worker.entries('maps/hosts.map')) {
    if (!paths.has(`${table}/`)) ends.push(`${host} → ${table}`);
    for (const [path, value] of paths) {
      if (!path.startsWith(`${table}/`)) continue;
      const target = value.startsWith('?') ? lists.get(value.slice(1)) : value;
      const spare = target === undefined ? undefined : spares.get(target);
      if (target === undefined) ends.push(`${path} → ${value}`);
      else if (target !== NOWHERE && !worker.isServed(spare ?? target)) ends.push(`${path} → ${target}`);
      else if (spare !== undefined && !worker.servesFor(spare, target)) ends.push(`${target} → ${spare}`);
    }
  }
  return ends;
}

/** Runs a plan on the worker; gives the worker that serves afterwards. */
function carryOut(
  deploy: DeployPlan,
  { next, before }: { readonly next: Rendered; readonly before: Rendered },
  worker: ModelWorker,
  version: string,
): ModelWorker {
  worker.place(next.files);
  if (deploy.mode === 'reload') {
    for (const op of deploy.inPlaceOps) worker.run(op);
    expectEndpoints(worker, next, before);
    return new ModelWorker(next.files, version);
  }
  const usable = worker.usable;
  const staysUsable = [...new ModelWorker(next.files).usable].filter((name) => usable.has(name));
  for (const op of deploy.ops) {
    worker.run(op);
    expect(deadEnds(worker), JSON.stringify(op)).toEqual([]);
    for (const name of staysUsable) expect(worker.usable, JSON.stringify(op)).toContain(name);
  }
  return worker;
}

/** Before the reload comes, every server that can be reached the new way is. */
function expectEndpoints(worker: ModelWorker, next: Rendered, before: Rendered): void {
  for (const [name, { servers, serversReason, spareFor }] of Object.entries(next.plan.backends)) {
    const old = Object.hasOwn(before.plan.backends, name) ? before.plan.backends[name] : undefined;
    if (serversReason !== undefined || old === undefined || spareFor !== old.spareFor) continue;
    // What is on its way out of the worker is nobody's any more.
    const former = new Set(old.servers.map((known) => known.name));
    for (const { name: server, address, port } of servers) {
      const endpoint = worker.server(name, server)?.endpoint;
      const wanted = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
      if (endpoint !== undefined && former.has(server) && worker.takesServers(name))
        expect(endpoint).toBe(wanted);
    }
  }
}

/** Every render follows the one before. */
function renderAll(sites: readonly Site[], spareBackends: number): readonly Rendered[] {
  let current: RenderPlan | undefined;
  return sites.map((site) => {
    const rendered = render(site, undefined, { spareBackends, ...(current && { current }) });
    // What was published changes nothing by having been published.
    const again = render(site, undefined, { spareBackends, current: rendered.plan });
    expect(again.plan.id).toBe(rendered.plan.id);
    current = rendered.plan;
    return rendered;
  });
}

describe.each([
  ['3.4.7', 0],
  ['3.2.26', 0],
  ['3.2.26', 2],
] as const)('on HAProxy %s with %i spare backends of each profile', (version, spares) => {
  it('what a worker was changed to is what a cold start of the same files gives', () => {
    const modes: Record<string, number> = {};
    let seated = 0;
    const flags = fc.record({ settles: fc.boolean(), knowsLoaded: fc.boolean(), skips: fc.boolean() });
    fc.assert(
      fc.property(arbSequence, flags, (sites, { settles, knowsLoaded, skips }) => {
        // A pod that is busy gets the newest plan when it is free.
        const sequence = renderAll(sites, spares).filter((_, index) => !skips || index % 2 === 0);
        let worker = new ModelWorker(sequence[0]!.files, version);
        for (const [index, next] of sequence.slice(1).entries()) {
          const before = sequence[index]!;
          const deploy = plan(next, before, version, knowsLoaded ? worker : undefined);
          modes[deploy.mode] = (modes[deploy.mode] ?? 0) + 1;
          if (deploy.mode === 'runtime') seated += worker.entries('maps/spares.map').size;
          worker = carryOut(deploy, { next, before }, worker, version);
          if (settles) worker.settle();
          expect(deploy.mode === 'noop').toBe(next.plan.id === before.plan.id);
          expect(deploy.ops.length > 0).toBe(deploy.mode === 'runtime');
        }
        worker.settle();
        const cold = new ModelWorker(sequence.at(-1)!.files, version);
        expect(worker.snapshot(isOrdered)).toEqual(cold.snapshot(isOrdered));
        for (const profile of cold.profiles) expect(worker.profiles).toContain(profile);
      }),
      { numRuns: runs },
    );
    // The model would be content with reloads alone.
    expect(modes['runtime']).toBeGreaterThan(modes['reload']! / 2);
    expect(seated > 0).toBe(spares > 0);
  });
});

describe('any plan', () => {
  it('is the same with what the assemblies before handed on', () => {
    const memo = new PlanMemo(sha256);
    fc.assert(
      fc.property(arbSequence, (sites) => {
        for (const site of sites) {
          const warm = render(site, memo);
          const cold = render(site);
          expect(canonicalJson(warm.plan)).toBe(canonicalJson(cold.plan));
          for (const { path, digest, size } of warm.files.entries) {
            const bytes = warm.files.read(path);
            expect([path, sha256(bytes), bytes.length]).toEqual([path, digest, size]);
          }
        }
      }),
      { numRuns: runs },
    );
  });

  it('differs from itself in nothing', () => {
    fc.assert(
      fc.property(arbSequence, ([site]) => {
        const found = plan(render(site!), render(site!), '3.4.7');
        expect(found).toMatchObject({ mode: 'noop', reasons: [], ops: [], inPlaceOps: [], files: [] });
      }),
      { numRuns: 50 },
    );
  });

  it('is reached by what an agent can do, or by a reload', () => {
    fc.assert(
      fc.property(arbSequence, fc.subarray([...OPERATION_NAMES]), (sites, ops) => {
        const [before, next] = sites.map((site) => render(site));
        const pod = { name: 'pod', baseline: before!.plan, ops, haproxyVersion: '3.4.7' };
        const found = diff({ next: next!.plan, pod });
        for (const { op } of [...found.ops, ...found.inPlaceOps]) expect(ops).toContain(op);
      }),
      { numRuns: 50 },
    );
  });
});
