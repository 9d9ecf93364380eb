import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runtimeCommand } from '../haproxy/runtime-command.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion, versionsOfOwnLogic } from '../haproxy/versions.ts';
import { Deployer } from './deployer.ts';
import { Pod } from './pod.ts';
import type { Program } from './program.ts';
import { coldDump, workerDump } from './worker-dump.ts';
import type { World, WorldServer } from './world.ts';

const body = 'balance roundrobin\n';
const withServer = (more: Readonly<Record<string, WorldServer>>): World => ({
  backends: { app: { body, servers: { a: { port: 1 }, ...more } } },
  hosts: { 'a.test': 'app' },
  leaves: { app: '1' },
});
const before = withServer({});

/** Something that waited to be deleted, and that the next apply wants again. */
interface Returning {
  readonly kind: string;
  readonly world: World;
  readonly item: Readonly<Record<string, unknown>>;
  /** Asks the worker for it. */
  readonly command: string;
  readonly shown: string;
  /** The lowest HAProxy that can be given it at run time. */
  readonly since?: string;
}

const returningServer = (state: 'ready' | 'maint'): Returning => ({
  kind: `a server that is ${state}`,
  world: withServer({ s: { port: 2, state } }),
  item: { kind: 'server', backend: 'app', name: 's', keywords: [], guid: 'srv:app:s' },
  command: 'show servers state app',
  shown: ' s ',
});
const rows: readonly Returning[] = [
  {
    kind: 'a map entry',
    world: { ...before, leaves: { app: '1', s: '2' } },
    item: { kind: 'map', map: 'maps/leaves.map', key: 's', due: 0 },
    command: 'get map maps/leaves.map s',
    shown: 'found=yes',
  },
  returningServer('ready'),
  returningServer('maint'),
  {
    kind: 'a backend',
    world: { ...before, backends: { ...before.backends, s: { body, servers: { t: { port: 2 } } } } },
    item: { kind: 'backend', name: 's', servers: ['t'] },
    command: 'show backend',
    shown: '\ns\n',
    since: '3.4',
  },
];
/** `operated`: HAProxy has it, and nobody has noted that. */
const points = ['committed', 'operated'];

/** As a predecessor left it that was killed before it could note that the item is wanted again. */
async function leaveWaiting(pod: Pod, item: Returning['item']): Promise<void> {
  const path = join(pod.baseDir, 'worker.json');
  const last = (await readFile(path, 'utf8')).trim().split('\n').at(-1)!;
  await appendFile(path, `${JSON.stringify({ ...(JSON.parse(last) as object), deferred: [item] })}\n`);
}

/** How often the worker that answered did not have it, until `ended`. */
async function timesGone(pod: Pod, { command, shown }: Returning, ended: Promise<unknown>): Promise<number> {
  const over = new AbortController();
  const end = (): void => over.abort();
  void ended.then(end, end);
  let gone = 0;
  while (!over.signal.aborted) {
    const answer = await runtimeCommand(pod.workerSocket, command).catch(() => '');
    if (answer !== '' && !answer.includes(shown)) gone += 1;
  }
  return gone;
}

interface Running {
  readonly pod: Pod;
  readonly deployer: Deployer;
  readonly agent: Program;
}

async function killAndReturn(
  { pod, deployer, agent }: Running,
  { row, point }: { readonly row: Returning; readonly point: string },
): Promise<void> {
  const words = `${row.kind}, killed at ${point}`;
  const next = deployer.render(row.world);
  const message = deployer.message(next, await deployer.plan(next));
  expect(message.mode, words).toBe('auto');
  await pod.order('kill-agent', point);
  await pod.apply(message).catch(() => {});
  expect(await agent.ended, words).toBe('SIGKILL');
  await pod.orderNothing();
  await leaveWaiting(pod, row.item);
  const settled = pod.startAgent().then(() =>
    until(
      async () => {
        const state = await pod.state('plan=0');
        return state.inStep && state.pendingReload === null && state.pendingDeletes.length === 0 && state;
      },
      { what: words, deadlineMs: 60_000 },
    ),
  );
  const gone = await timesGone(pod, row, settled);
  expect((await settled).applied, words).toBe(next.plan.id);
  if (point === 'operated') expect(gone, words).toBe(0);
  expect((await runtimeCommand(pod.workerSocket, row.command)).includes(row.shown), words).toBe(true);
}

forEachVersion(({ binary, minor }) => {
  test.for(rows.filter(({ since = minor }) => since <= minor))(
    'what waited to be deleted stays when an apply that was cut short wants it again: $kind',
    { timeout: 300_000 },
    async (row) => {
      for (const point of points) {
        const pod = await Pod.create(binary);
        await pod.startHaproxy();
        const agent = await pod.startAgent();
        const deployer = new Deployer(pod);
        await deployer.deploy(before);
        await killAndReturn({ pod, deployer, agent }, { row, point });
        expect(await workerDump(pod)).toEqual(await coldDump(pod, binary));
      }
    },
  );
}, versionsOfOwnLogic);
