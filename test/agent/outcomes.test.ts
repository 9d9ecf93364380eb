import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { onCleanup } from '../haproxy/cleanup.ts';
import { freePort } from '../haproxy/free-port.ts';
import { request } from '../haproxy/raw-request.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { traffic } from '../haproxy/traffic.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { applyOf, planIdOf, type Files } from './plan.ts';
import { Pod } from './pod.ts';

async function running(
  binary: string,
  options: Record<string, string> = {},
): Promise<{ pod: Pod; good: Files }> {
  const pod = await Pod.create(binary);
  await pod.startHaproxy();
  await pod.startAgent(options);
  const good = pod.site('good');
  const binds = [{ address: `127.0.0.1:${pod.port}` }];
  expect((await pod.apply(applyOf(good, { binds }))).body.outcome).toBe('reload');
  return { pod, good };
}

function mounted(args: readonly string[]): boolean {
  try {
    execFileSync('mount', args, { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

/** Wherever they are by now: a folder with a mount in it can be renamed. */
function unmountBelow(dir: string): void {
  const points = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const point of points) if (point.startsWith(`${dir}/`)) execFileSync('umount', ['-l', point]);
}

const second = (good: Files) => ({ token: { epoch: 1, seq: 2 }, expect: planIdOf(good) });

forEachVersion(({ binary }) => {
  test('an address in use is a NACK before the reload, and no connection is refused', async () => {
    const { pod, good } = await running(binary);
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    onCleanup(() => void other.close());
    const load = traffic({ port: pod.port });
    const wanted = pod.site('more', { extra: `bind 127.0.0.1:${port}` });
    const binds = [{ address: `127.0.0.1:${pod.port}` }, { address: `127.0.0.1:${port}` }];
    const { body } = await pod.apply(applyOf(wanted, { ...second(good), binds }));
    expect(body).toMatchObject({ outcome: 'rejected', stage: 'bind', rolledBack: false });
    expect(body.message).toContain(`127.0.0.1:${port}`);
    expect(await load.stop()).toMatchObject({ failed: 0, failures: [] });
    expect(await pod.tree()).toEqual(good);

    await new Promise((resolve) => void other.close(resolve));
    const retry = applyOf(wanted, { ...second(good), token: { epoch: 1, seq: 3 }, binds });
    expect((await pod.apply(retry)).body).toMatchObject({ outcome: 'reload' });
    expect((await request(port)).status).toBe(200);
  });

  test('goes back to the last known good, also after a restart of the agent', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    const agent = await pod.startAgent();
    const good = pod.site('good');
    await pod.apply(applyOf(good));
    const unproven = pod.site('good', { map: 'unproven' });
    const { body } = await pod.apply(applyOf(unproven, { ...second(good), mode: 'auto' }));
    expect(body.outcome).toBe('file_only');
    expect(await pod.state()).toMatchObject({
      applied: planIdOf(unproven),
      lkg: planIdOf(good),
      inStep: true,
    });

    await agent.kill('SIGKILL');
    await pod.startAgent();
    const revert = { planId: planIdOf(unproven), textId: '', files: [], mode: 'revert_lkg' };
    const reverted = await pod.apply({ ...revert, token: { epoch: 1, seq: 3 }, expect: planIdOf(unproven) });
    expect(reverted.body).toMatchObject({ outcome: 'reload', planId: planIdOf(good) });
    expect(await pod.tree()).toEqual(good);

    const validated = applyOf(unproven, {
      token: { epoch: 1, seq: 4 },
      expect: planIdOf(good),
      mode: 'auto',
      validated: planIdOf(unproven),
    });
    expect((await pod.apply(validated)).body.outcome).toBe('file_only');
    expect(await pod.state()).toMatchObject({ lkg: planIdOf(unproven) });
  });
});

forEachVersion(({ binary }) => {
  test('reloads too close together are put off, the newest files win, and their end is told', async () => {
    const { pod, good } = await running(binary, { 'reload-interval-min': '1500' });
    const [two, three] = [pod.site('two'), pod.site('three')];
    const first = await pod.apply(applyOf(two, second(good)));
    expect(first.body).toMatchObject({ outcome: 'scheduled' });
    const next = { token: { epoch: 1, seq: 3 }, expect: planIdOf(two) };
    const last = await pod.apply(applyOf(three, next));
    expect(last.body).toMatchObject({ outcome: 'scheduled' });
    expect((await request(pod.port)).body.toString()).toBe('good one');
    const waiting = await pod.state();
    expect(waiting).toMatchObject({
      applied: planIdOf(three),
      inStep: false,
      pendingReload: { planId: planIdOf(three) },
    });

    const state = await pod.state(`after=${waiting.generation}&waitMs=10000`);
    expect(state).toMatchObject({ inStep: true, running: planIdOf(three), pendingReload: null });
    expect(state.lastApply).toMatchObject({ outcome: 'reload' });
    expect((await request(pod.port)).body.toString()).toBe('three one');
  });

  test('a put-off reload that HAProxy refuses puts the loaded files back', async () => {
    const { pod, good } = await running(binary, { 'reload-interval-min': '1000' });
    const bad = pod.site('bad', { extra: 'bogus' });
    expect((await pod.apply(applyOf(bad, second(good)))).body.outcome).toBe('scheduled');
    const more = { ...bad, 'files/x': 'x' };
    const auto = { token: { epoch: 1, seq: 3 }, expect: planIdOf(bad), mode: 'auto' };
    expect((await pod.apply(applyOf(more, auto))).body.outcome).toBe('scheduled');
    const { generation } = await pod.state();
    const state = await pod.state(`after=${generation}&waitMs=10000`);
    expect(state.lastApply).toMatchObject({ outcome: 'rejected', stage: 'reload', rolledBack: true });
    expect(state).toMatchObject({ applied: planIdOf(good), inStep: true });
    expect(await pod.tree()).toEqual(good);
  });

  test('a put-off reload survives the agent', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    const agent = await pod.startAgent({ 'reload-interval-min': '60000' });
    const good = pod.site('good');
    await pod.apply(applyOf(good));
    const two = pod.site('two');
    expect((await pod.apply(applyOf(two, second(good)))).body.outcome).toBe('scheduled');
    await agent.kill('SIGKILL');
    await pod.startAgent({ 'reload-interval-min': '60000' });
    await until(async () => (await pod.state()).inStep);
    expect((await request(pod.port)).body.toString()).toBe('two one');
  });

  test('a changed file is seen, and sent again it is mended', async () => {
    const { pod, good } = await running(binary);
    await writeFile(join(pod.baseDir, 'current', 'maps', 'site.map'), 'key changed\n');
    const state = await pod.state('verify=1');
    expect(state.drift).toEqual(['maps/site.map']);
    const { body } = await pod.apply(applyOf(good, second(good)));
    expect(body).toMatchObject({ outcome: 'reload' });
    expect(await pod.tree()).toEqual(good);
    expect(await pod.state('verify=1')).toMatchObject({ drift: [] });
  });

  test('a file that can neither be written over nor removed is no hindrance', async (context) => {
    const { pod, good } = await running(binary);
    const map = await realpath(join(pod.baseDir, 'current', 'maps', 'site.map'));
    if (process.getuid?.() !== 0) context.skip('only root can mount a file upon itself');
    if (!mounted(['--bind', map, map])) context.skip('cannot mount a file upon itself');
    onCleanup(() => unmountBelow(pod.dir));
    execFileSync('mount', ['-o', 'remount,bind,ro', map]);
    let expected = good;
    // Its tree becomes the spare one, which is written over.
    for (let seq = 2; seq < 30; seq += 1) {
      const files = pod.site('good', { map: `v${seq}` });
      const next = { token: { epoch: 1, seq }, expect: planIdOf(expected) };
      const { body } = await pod.apply(applyOf(files, { ...next, mode: seq < 6 ? 'reload' : 'auto' }));
      expect(body).toMatchObject({ outcome: seq < 6 ? 'reload' : 'file_only' });
      expect(await pod.tree()).toEqual(files);
      expected = files;
    }
    // Nor does it keep other trees from being removed.
    expect((await pod.trees()).length).toBeLessThan(10);
    unmountBelow(pod.dir);
    await pod.apply(applyOf(good, { token: { epoch: 1, seq: 30 }, expect: planIdOf(expected) }));
    expect((await pod.trees()).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  test('a folder that cannot be written rejects the apply and leaves everything as it was', async (context) => {
    const { pod, good } = await running(binary);
    const folder = join(pod.baseDir, 'trees');
    if (process.getuid?.() !== 0) await chmod(folder, 0o500);
    else if (!mounted(['--bind', folder, folder])) context.skip('cannot mount a folder upon itself');
    if (process.getuid?.() === 0) {
      onCleanup(() => void execFileSync('umount', ['-l', folder]));
      execFileSync('mount', ['-o', 'remount,bind,ro', folder]);
    }
    const { body } = await pod.apply(applyOf(pod.site('two'), second(good)));
    expect(body).toMatchObject({ outcome: 'rejected', stage: 'stage', rolledBack: false });
    expect(body.message).toMatch(/EROFS|EACCES/);
    expect(await pod.tree()).toEqual(good);
    expect(await pod.state('verify=1')).toMatchObject({ applied: planIdOf(good), inStep: true, drift: [] });
    if (process.getuid?.() === 0) execFileSync('mount', ['-o', 'remount,bind,rw', folder]);
    else await chmod(folder, 0o700);
    const again = applyOf(pod.site('two'), { token: { epoch: 1, seq: 3 }, expect: planIdOf(good) });
    expect((await pod.apply(again)).body).toMatchObject({ outcome: 'reload' });
  });

  test('a reload that cannot bind what nobody told of is taken back', async () => {
    const { pod, good } = await running(binary);
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    onCleanup(() => void other.close());
    const wanted = pod.site('more', { extra: `bind 127.0.0.1:${port}` });
    const { body } = await pod.apply(applyOf(wanted, second(good)));
    expect(body).toMatchObject({ outcome: 'rejected', stage: 'reload', rolledBack: true });
    expect(body.message).toMatch(/cannot bind socket/);
    expect(await pod.tree()).toEqual(good);
    expect(await pod.state()).toMatchObject({ applied: planIdOf(good), lkg: planIdOf(good), inStep: true });
    expect((await request(pod.port)).body.toString()).toBe('good one');
  });

  test('a link that leads out of the tree is not followed', async () => {
    const { pod, good } = await running(binary);
    const outside = await tempDir();
    await writeFile(join(outside, 'site.map'), 'key outside\n');
    const maps = join(pod.baseDir, 'current', 'maps');
    await rm(maps, { recursive: true });
    await symlink(outside, maps);
    let expected = good;
    // The tree that was bent becomes a spare one, and then would be written.
    for (let seq = 2; seq < 6; seq += 1) {
      const files = pod.site(`v${seq}`, { map: `v${seq}` });
      const { body } = await pod.apply(
        applyOf(files, { token: { epoch: 1, seq }, expect: planIdOf(expected) }),
      );
      expect(body).toMatchObject({ outcome: 'reload' });
      expect(await pod.tree()).toEqual(files);
      expect(await readdir(outside)).toEqual(['site.map']);
      expect(await readFile(join(outside, 'site.map'), 'utf8')).toBe('key outside\n');
      expected = files;
    }
  });

  test('a full disk rejects the apply and leaves everything as it was', async (context) => {
    if (process.getuid?.() !== 0) context.skip('only root can mount a small file system');
    const pod = await Pod.create(binary);
    await mkdir(pod.baseDir);
    if (!mounted(['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', pod.baseDir]))
      context.skip('cannot mount a small file system');
    onCleanup(() => void execFileSync('umount', ['-l', pod.baseDir]));
    await pod.startHaproxy();
    await pod.startAgent();
    const good = pod.site('good');
    await pod.apply(applyOf(good));
    const big = { ...pod.site('big'), 'files/big': 'x'.repeat(300_000) };
    const { body } = await pod.apply(applyOf(big, second(good)));
    expect(body).toMatchObject({ outcome: 'rejected', stage: 'stage', rolledBack: false });
    expect(body.message).toContain('ENOSPC');
    expect(await pod.tree()).toEqual(good);
    const small = applyOf(pod.site('small'), { token: { epoch: 1, seq: 3 }, expect: planIdOf(good) });
    expect((await pod.apply(small)).body).toMatchObject({ outcome: 'reload' });
  });
});
