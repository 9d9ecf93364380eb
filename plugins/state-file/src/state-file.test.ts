import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  Cancelled,
  definePlugin,
  KEPT_FOLDER,
  Retry,
  STATE_STORE,
  z,
  type Hooks,
} from '@haptic/core/contract';
import { controllerRules, createHooks, Host, type EnabledPlugin } from '@haptic/core/host';
import { memoryLog, pluginContract } from '@haptic/core/testing';
import { FileStateStore } from './file-state-store.ts';
import stateFile from './index.ts';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'haptic-state-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('documents as files', () => {
  it('are absent, then what was written last, for nobody else to read', async () => {
    const store = new FileStateStore(join(folder, 'deep', 'state'));
    expect(await store.read('quarantine')).toBeUndefined();
    await Promise.all([store.write('quarantine', 'old'), store.write('quarantine', 'new')]);
    expect(await store.read('quarantine')).toBe('new');
    expect(await new FileStateStore(join(folder, 'deep', 'state')).read('quarantine')).toBe('new');
    expect((await stat(join(folder, 'deep/state/quarantine'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'deep/state'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(folder, 'deep/state'))).toEqual(['quarantine']);
  });

  it('outlive what a killed process left half-written, and do not follow links', async () => {
    const store = new FileStateStore(folder);
    const victim = join(folder, 'victim');
    await store.write('quarantine', 'whole');
    await writeFile(victim, 'untouched');
    await writeFile(join(folder, 'quarantine.new'), 'hal');
    expect(await store.read('quarantine')).toBe('whole');
    await rm(join(folder, 'quarantine.new'));
    await symlink(victim, join(folder, 'quarantine.new'));
    await store.write('quarantine', 'next');
    expect(await store.read('quarantine')).toBe('next');
    expect(await readFile(victim, 'utf8')).toBe('untouched');
  });

  it('say that they cannot be reached, and go on where they can again', async () => {
    const store = new FileStateStore(join(folder, 'state'));
    await writeFile(join(folder, 'state'), 'a file in the way');
    await expect(store.write('quarantine', 'x')).rejects.toThrow(Retry);
    await expect(store.read('quarantine')).rejects.toThrow(Retry);
    await rm(join(folder, 'state'));
    await store.write('quarantine', 'x');
    expect(await store.read('quarantine')).toBe('x');
    await mkdir(join(folder, 'state', 'accepted'));
    await expect(store.write('accepted', 'x')).rejects.toThrow(Retry);
    expect(await readdir(join(folder, 'state'))).toEqual(['accepted', 'quarantine']);
  });

  it('are not written when nobody wants it any more', async () => {
    const store = new FileStateStore(folder);
    await expect(store.write('quarantine', 'x', AbortSignal.abort())).rejects.toThrow(Cancelled);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('the plugin', () => {
  for (const { name, run } of pluginContract(stateFile, { options: { folder: '/nonexistent' } }))
    it(name, run);

  const kept = definePlugin({
    name: 'kept',
    apiVersion: 1,
    options: z.strictObject({}),
    setup: ({ provide }) => provide(KEPT_FOLDER, folder),
  });
  const start = (plugins: readonly EnabledPlugin<Hooks>[]) =>
    Host.start({ ...controllerRules, check: () => {}, hooks: createHooks(), plugins, log: memoryLog() });

  it('says in the health body what it cannot keep, until it can', async () => {
    const path = join(folder, 'state');
    await writeFile(path, 'a file in the way');
    const host = await start([{ plugin: stateFile, options: { folder: path } }]);
    const problem = async () => (await host.health())[0]?.problem;
    const store = host.use(STATE_STORE);
    await expect(store.write('quarantine', 'x')).rejects.toThrow(Retry);
    expect(await problem()).toMatch(/state\/quarantine cannot be written: .*EEXIST/);
    await rm(path);
    await store.write('quarantine', 'x');
    expect(await problem()).toBeUndefined();
    await host.close();
  });

  it('keeps files below the folder that is kept, and nothing without one', async () => {
    const host = await start([{ plugin: kept }, { plugin: stateFile }]);
    await host.use(STATE_STORE).write('quarantine', 'x');
    expect(await readFile(join(folder, 'controller', 'quarantine'), 'utf8')).toBe('x');
    await host.close();
    const without = await start([{ plugin: stateFile }]);
    expect(without.tryUse(STATE_STORE)).toBeUndefined();
    await without.close();
  });
});
