import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { traffic, type TrafficReport } from '../haproxy/traffic.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { noTrace, pidsOf, place, processesOf, up, type Place, type Up } from './haptic-process.ts';
import { ingress } from './objects.ts';
import { answer, HOST, site } from './site.ts';

/** What is promised of a machine with nothing else to do. */
const LONGEST_OUTAGE_MS = 2_000;
/** How much slower than that this machine may be before it is a failure. */
const ALLOWANCE = 3;
/** Each test starts the program twice, or kills four of its processes: where others want the processors, too, that takes minutes. */
const LONG = { timeout: 300_000 };

/** HAProxy's processes; the master first. */
async function haproxyPids(run: Place): Promise<readonly number[]> {
  const folder = (await readdir(run.dir)).find((name) => name.startsWith('haptic-up-'));
  const record = await readFile(join(run.dir, folder!, 'haproxy.json'), 'utf8');
  const { master } = JSON.parse(record) as { master: number };
  const others = (await pidsOf(run, 'master.sock')).filter((pid) => pid !== master);
  const children = await Promise.all(
    others.map(async (pid) => ((await parentOf(pid)) === master ? [pid] : [])),
  );
  return [master, ...children.flat()];
}

async function parentOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return Number(/\) \S (\d+)/.exec(stat)?.[1]);
}

/** Nothing is left of what was killed or replaced: a master and a worker, an agent and a supervisor, and no more. */
async function untilTidy(run: Place, after: string): Promise<void> {
  const isTidy = async (): Promise<boolean> =>
    (await pidsOf(run, 'master.sock,mode')).length === 2 && (await pidsOf(run, 'main.ts ')).length === 2;
  await until(isTidy, { deadlineMs: LONGEST_OUTAGE_MS * ALLOWANCE, what: `no orphan after ${after}` });
}

const programs: Readonly<Record<string, (run: Up) => Promise<number>>> = {
  agent: async (run) => (await pidsOf(run, 'main.ts agent '))[0]!,
  'the supervisor of HAProxy': async (run) => (await pidsOf(run, 'main.ts haproxy '))[0]!,
  'the master of HAProxy': async (run) => (await haproxyPids(run))[0]!,
  'the worker of HAProxy': async (run) => (await haproxyPids(run))[1]!,
};

/** Kills, waits until another process has taken the place and serves, and says what became of the requests meanwhile. */
async function kill(run: Up, find: (run: Up) => Promise<number>): Promise<TrafficReport> {
  const victim = await find(run);
  const load = traffic({ port: run.port, host: HOST, clients: 2, pauseMs: 5 });
  const served = (): number => load.report().requests - load.report().failed;
  await until(() => served() > 10);
  process.kill(victim, 'SIGKILL');
  const isReplaced = async (): Promise<boolean> => {
    const successor = await find(run);
    return successor > 0 && successor !== victim;
  };
  await until(isReplaced, { deadlineMs: 30_000, what: 'a successor' });
  const before = served();
  await until(() => served() > before + 50, { deadlineMs: 30_000, what: 'requests are served' });
  return load.stop();
}

forEachVersion(
  ({ binary }) => {
    test(
      'what is killed comes back; only without HAProxy do requests fail, and not for long',
      LONG,
      async () => {
        const { dir, write } = await site();
        const run = await up({ haproxy: binary, resources: [dir] });
        await untilTidy(run, 'the start');
        for (const [name, find] of Object.entries(programs)) {
          const { failures, outageMs } = await kill(run, find);
          console.log(`requests failed for ${Math.round(outageMs)} ms after a kill of ${name}`);
          if (/master|worker/.test(name))
            expect(outageMs, name).toBeLessThanOrEqual(LONGEST_OUTAGE_MS * ALLOWANCE);
          else expect(failures, name).toEqual([]);
          await untilTidy(run, `a kill of ${name}`);
          // And the whole chain works again, from file to wire.
          const path = `/after-${Object.keys(programs).indexOf(name)}`;
          expect(await answer(run.port)).toBe('app');
          await write('more.yaml', ingress('more', 'more.example', { [path]: 'app' }));
          await until(async () => (await answer(run.port, 'more.example', path)) === 'app', {
            deadlineMs: 30_000,
            what: `an edit after a kill of ${name}`,
          });
        }
      },
    );

    test('haptic up itself killed leaves nothing, and can be started again', LONG, async () => {
      const { dir } = await site();
      const at = await place();
      const first = await up({ haproxy: binary, resources: [dir], at });
      process.kill(first.pid, 'SIGKILL');
      await until(async () => (await processesOf(at)).length === 0, { deadlineMs: 2_000, what: 'no orphan' });
      expect((await readdir(at.dir)).filter((name) => name.startsWith('haptic-up-'))).toEqual([]);
      const second = await up({ haproxy: binary, resources: [dir], at, port: first.port });
      expect(await answer(second.port)).toBe('app');
      process.kill(second.pid, 'SIGTERM');
      expect(await second.ended).toBe(0);
      await noTrace(at, 2_000);
    });

    test('all of its programs killed at once leave nothing, and it can be started again', LONG, async () => {
      const { dir } = await site();
      const at = await place();
      const first = await up({ haproxy: binary, resources: [dir], at });
      const pids = [first.pid, ...(await pidsOf(at, 'main.ts')), ...(await pidsOf(at, 'haptic-guard'))];
      expect(pids.length).toBe(4);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      await first.ended;
      // Nobody is left who could end HAProxy: it serves until the next start.
      expect(await answer(first.port)).toBe('app');
      const orphans = await haproxyPids(at);
      const second = await up({ haproxy: binary, resources: [dir], at });
      expect(await answer(second.port)).toBe('app');
      expect((await pidsOf(at, 'master.sock')).filter((pid) => orphans.includes(pid))).toEqual([]);
    });
  },
  process.env['HAPTIC_SOAK'] === '1' ? undefined : ['3.4'],
);
