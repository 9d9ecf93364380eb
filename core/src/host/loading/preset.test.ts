import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { PluginDefinition } from '../../contract/plugin.ts';
import type { ConfigEntry, HostConfig } from './host-config.ts';
import { enabledPlugins, type Preset } from './preset.ts';

const plugin = (name: string): PluginDefinition => ({
  name,
  apiVersion: 1,
  options: z.looseObject({}),
  setup() {},
});
const source = (name: string) =>
  `const options = { safeParse: (data) => ({ success: true, data }) };
   export default { name: '${name}', apiVersion: 1, options, setup() {} };`;

const preset: Preset<object> = {
  version: '1.2.3',
  plugins: [
    { use: '@haptic/first', plugin: plugin('first'), options: { a: 1, b: 1 } },
    { use: '@haptic/second', plugin: plugin('second') },
    { use: '@haptic/spare', plugin: plugin('spare'), enabled: false },
  ],
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'haptic-preset-'));
  for (const name of ['own', 'second']) await writeFile(join(folder, `${name}.mjs`), source(name));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const entry = (use: string, more: Partial<ConfigEntry> = {}): ConfigEntry => ({
  use,
  enabled: true,
  locate: () => 'x',
  ...more,
});
const configOf = (...plugins: ConfigEntry[]): HostConfig => ({
  file: join(folder, 'haptic.config.yaml'),
  plugins,
});

async function listed(...entries: ConfigEntry[]) {
  const enabled = await enabledPlugins(preset, configOf(...entries));
  return enabled.map(({ plugin: { name }, options, origin }) => [name, options, origin?.from]);
}

describe('enabledPlugins', () => {
  it('is the preset without a host configuration, and without entries', async () => {
    const expected = [
      ['first', { a: 1, b: 1 }, 'preset'],
      ['second', {}, 'preset'],
    ];
    const enabled = await enabledPlugins(preset, undefined);
    expect(enabled.map(({ plugin: { name }, options, origin }) => [name, options, origin?.from])).toEqual(
      expected,
    );
    expect(enabled[0]?.origin).toEqual({ use: '@haptic/first', from: 'preset', version: '1.2.3' });
    expect(await listed()).toEqual(expected);
  });

  it('changes a shipped plugin where it stands, option by option', async () => {
    expect(
      await listed(
        entry('@haptic/second', { options: { c: 1 } }),
        entry('@haptic/first', { options: { b: 2 } }),
      ),
    ).toEqual([
      ['first', { a: 1, b: 2 }, 'preset'],
      ['second', { c: 1 }, 'preset'],
    ]);
  });

  it('switches shipped plugins off and on', async () => {
    expect(await listed(entry('@haptic/first', { enabled: false }), entry('@haptic/spare'))).toEqual([
      ['second', {}, 'preset'],
      ['spare', {}, 'preset'],
    ]);
  });

  it('adds new plugins behind, in order', async () => {
    const names = (await listed(entry('./own.mjs', { options: { x: 1 } }))).map(([name]) => name);
    expect(names).toEqual(['first', 'second', 'own']);
  });

  it('lets an operator’s plugin take the place of the shipped one of its name', async () => {
    expect(await listed(entry('./second.mjs'))).toEqual([
      ['first', { a: 1, b: 1 }, 'preset'],
      ['second', {}, 'config'],
    ]);
  });

  it('does not import what is switched off', async () => {
    await writeFile(join(folder, 'broken.mjs'), 'throw new Error("imported");');
    expect(await listed(entry('./broken.mjs', { enabled: false }))).toHaveLength(2);
  });

  it('reports all entries that are wrong', async () => {
    const error = (await listed(
      entry('@haptic/frist', { enabled: false }),
      entry('./none.mjs'),
      entry('@haptic/second'),
      entry('./second.mjs'),
    ).catch((reason: unknown) => reason)) as AggregateError;
    expect(error.errors.map(({ code, message }) => [code, message])).toEqual([
      ['PLUGIN_IMPORT', expect.stringContaining('no such package, did you mean "@haptic/first"?')],
      ['PLUGIN_IMPORT', expect.stringContaining('./none.mjs: cannot be found from')],
      ['PLUGIN_ORDER', expect.stringContaining('second: is listed twice in')],
    ]);
  });
});
