import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  CONFIG_CHANGES,
  OBJECT_CHECKS,
  RESOURCE_SOURCE,
  type ConfigSource,
  type ObjectCheck,
  type ResourceSource,
  type WatchContent,
} from '@haptic/core/contract';
import { createHooks, Host, offer } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import sourceFile from '@haptic/source-file';
import { Store } from '../../core/src/store/index.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';

type Hooks = ReturnType<typeof createHooks>;

let dir: string;
let host: Host<Hooks> | undefined;
let stop: AbortController;
let configChanges: number;
let log: ReturnType<typeof memoryLog>;

beforeEach(async () => {
  dir = await tempDir();
  await mkdir(join(dir, 'objects'));
  await mkdir(join(dir, 'config'));
  host = undefined;
  stop = new AbortController();
  configChanges = 0;
  log = memoryLog();
});

afterEach(async () => {
  stop.abort();
  await host?.close();
});

/** A check of a plugin that is set up after the files' own. */
const portsAreListed: ObjectCheck = {
  apiVersion: 'v1',
  kind: 'Service',
  problems: ({ spec }) =>
    Array.isArray((spec as { ports?: unknown }).ports)
      ? []
      : [{ path: ['spec', 'ports'], message: 'expected a list of ports' }],
};

async function start(options: object): Promise<{ readonly hooks: Hooks; readonly source: ResourceSource }> {
  let source: ResourceSource | undefined;
  host = await Host.start({
    hooks: createHooks(),
    observers: [],
    log,
    services: [offer(CONFIG_CHANGES, { changed: () => configChanges++ })],
    plugins: [
      { plugin: sourceFile, options },
      {
        plugin: {
          name: 'user',
          apiVersion: 1,
          options: sourceFile.options.optional(),
          setup: (context) => {
            source = context.use(RESOURCE_SOURCE);
            context.use(OBJECT_CHECKS).add(portsAreListed);
          },
        },
      },
    ],
  });
  return { hooks: host.hooks, source: source! };
}

async function load(hooks: Hooks): Promise<readonly ConfigSource[]> {
  let provided: readonly ConfigSource[] = [];
  const collector = {
    version() {},
    provide: (sources: readonly ConfigSource[]) => void (provided = sources),
  };
  await hooks.load.promise(collector, { signal: stop.signal, caller: 'load-gate' });
  return provided;
}

function watch(resources: string, rest: Partial<WatchContent> = {}): WatchContent {
  return {
    apiVersions: ['v1'],
    resources,
    optional: false,
    indexBy: [],
    namespaces: [],
    ignoreFields: [],
    admission: false,
    debounce: 0,
    ...rest,
  };
}

async function put(name: string, text: string): Promise<void> {
  await writeFile(join(dir, name), text);
}

const service = (name: string, port = 80) =>
  `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}, labels: {app: ${name}}}\nspec: {ports: [{port: ${port}}]}\n`;

describe('resources', () => {
  async function watching(watches: Readonly<Record<string, WatchContent>>, options: object = {}) {
    const { source } = await start({ resources: [join(dir, 'objects')], ...options });
    const store = new Store(watches);
    await source.watch(watches, store, stop.signal);
    const names = (name: string) =>
      store
        .view()
        .watch(name)
        .list()
        .map(({ metadata }) => metadata.name);
    return { source, store, names };
  }

  const errors = () =>
    log.records.filter(({ level }) => level === 'error').map(({ fields }) => String(fields['problem']));

  it('fills every watch with its own objects', async () => {
    await put(
      'objects/a.yaml',
      [service('x'), service('y'), 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n'].join('---\n'),
    );
    await put('objects/odd.yaml', 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n');
    const { store, names } = await watching({
      services: watch('services'),
      some: watch('services', { labelSelector: 'app=y' }),
      elsewhere: watch('services', { namespaces: ['shop'] }),
      secrets: watch('secrets'),
      none: watch('configmaps', { optional: true }),
    });
    expect(store.unsynced).toEqual([]);
    expect(store.notServedWatches).toEqual([]);
    expect(['services', 'some', 'elsewhere', 'secrets', 'none'].map(names)).toEqual([
      ['x', 'y'],
      ['y'],
      [],
      ['s'],
      [],
    ]);
    expect(log.records).toContainEqual(
      expect.objectContaining({
        level: 'info',
        fields: expect.objectContaining({ kinds: ['apps/v1 Deployment'] }),
      }),
    );
  });

  it('brings changes, one batch a look', async () => {
    await put('objects/a.yaml', service('x'));
    const { store, names } = await watching({ services: watch('services') });
    const batches: string[][] = [];
    store.onChange((changes) => batches.push(changes.map(({ type, object }) => `${type} ${object.name}`)));
    await put('objects/a.yaml', [service('x', 81), service('y')].join('---\n'));
    await until(() => names('services').length === 2);
    await rename(join(dir, 'objects/a.yaml'), join(dir, 'objects/b.yaml'));
    await put('objects/c.yaml', service('z'));
    await until(() => names('services').length === 3);
    await rm(join(dir, 'objects/b.yaml'));
    await until(() => names('services').length === 1);
    expect(batches).toEqual([['updated x', 'added y'], ['added z'], ['deleted x', 'deleted y']]);
  });

  it('keeps what a broken file held, and the first of two that define one object', async () => {
    await put('objects/a.yaml', service('x'));
    const { store, names } = await watching({ services: watch('services') });
    await put('objects/a.yaml', 'a: 1\na: 2\n');
    await put('objects/b.yaml', [service('x', 99), service('y')].join('---\n'));
    await until(() => names('services').length === 2);
    expect(store.view().watch('services').get('default', 'x')).toMatchObject({
      spec: { ports: [{ port: 80 }] },
    });
    expect(errors().toSorted((a, b) => a.localeCompare(b))).toEqual([
      `${dir}/objects/a.yaml:2:1: Map keys must be unique\n  2 | a: 2\n      ^`,
      `${dir}/objects/b.yaml:1:1: Service default/x is already defined at ${dir}/objects/a.yaml:1:1`,
    ]);
    await rm(join(dir, 'objects/a.yaml'));
    await until(() => JSON.stringify(store.view().watch('services').get('default', 'x')).includes('99'));
  });

  it('refuses the file of what is not admitted, also at the start, and keeps what it held', async () => {
    const broken = service('x').replace(/ports: .*/, 'ports: 80}');
    await put('objects/a.yaml', service('x'));
    await put('objects/b.yaml', broken.replace('name: x', 'name: y'));
    const { names } = await watching({ services: watch('services') });
    expect(names('services')).toEqual(['x']);
    await put('objects/a.yaml', broken);
    await until(() => errors().length === 2);
    await put('objects/c.yaml', service('z'));
    await until(() => names('services').includes('z'));
    expect(names('services')).toEqual(['x', 'z']);
    await put('objects/a.yaml', service('x').replace('kind: Service', 'kind: Servcie'));
    await until(() => errors().length === 3);
    await put('objects/b.yaml', service('y'));
    await until(() => names('services').includes('y'));
    expect(names('services')).toEqual(['x', 'y', 'z']);
    const where = (name: string, place: string) => `${dir}/objects/${name}.yaml:${place}`;
    expect(errors().map((error) => error.split('\n')[0])).toEqual([
      `${where('b', '4:15')}: Service y: spec.ports: expected a list of ports`,
      `${where('a', '4:15')}: Service x: spec.ports: expected a list of ports`,
      `${where('a', '2:7')}: Servcie x: kind: v1 has no such kind, did you mean "Service"?`,
    ]);
    expect(log.records).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'file is right again' }),
    );
  });

  it('gives a second set of watches what it lacks, and ends with its signal', async () => {
    await put('objects/a.yaml', service('x'));
    const first = { services: watch('services') };
    const { source, store, names } = await watching(first);
    const end = new AbortController();
    const other = new Store({ ...first, secrets: watch('secrets') });
    await source.watch({ ...first, secrets: watch('secrets') }, other, end.signal);
    expect(other.view().watch('services').list()).toHaveLength(1);
    end.abort();
    await put('objects/b.yaml', service('y'));
    await until(() => names('services').length === 2);
    expect(other.view().watch('services').list()).toHaveLength(1);
    await expect(source.watch(first, store, end.signal)).rejects.toThrow();
  });

  it('stays as it is without watching', async () => {
    await put('objects/a.yaml', service('x'));
    const { names } = await watching({ services: watch('services') }, { watch: false });
    expect(names('services')).toEqual(['x']);
  });
});

describe('the config set', () => {
  const config = (spec: string) =>
    `apiVersion: haproxy-haptic.org/v1alpha1\nkind: HAProxyTemplateConfig\nmetadata: {name: main}\nspec: ${spec}\n`;

  it('is the shipped libraries, the folder and the settings of the host', async () => {
    await put('base.yaml', 'settings: {a: 1}\n');
    await put('config/main.yaml', config('{settings: {a: 2, b: 2}}'));
    const { hooks } = await start({
      config: join(dir, 'config'),
      libraries: [join(dir, 'base.yaml')],
      settings: { b: 3 },
    });
    const sources = await load(hooks);
    expect(sources.map(({ kind, name, spec }) => [kind, name, spec])).toEqual([
      ['library', 'base', { settings: { a: 1 } }],
      ['config', 'main', { settings: { a: 2, b: 3 } }],
    ]);
  });

  it('changes when its files do, and stays while they are broken', async () => {
    await put('base.yaml', 'settings: {a: 1}\n');
    const { hooks } = await start({ config: join(dir, 'config'), libraries: [join(dir, 'base.yaml')] });
    await put('config/main.yaml', config('{settings: {a: 2}}'));
    await until(() => configChanges === 1);
    expect((await load(hooks)).at(-1)!.spec).toEqual({ settings: { a: 2 } });
    await put('config/main.yaml', 'a: 1\na: 2\n');
    await until(() => log.records.some(({ message }) => message.startsWith('file is refused')));
    await put('config/other.yaml', config('{}'));
    await until(() => log.records.some(({ message }) => message.startsWith('config set is refused')));
    expect((await load(hooks)).at(-1)!.spec).toEqual({ settings: { a: 2 } });
    await rm(join(dir, 'config/other.yaml'));
    await put('config/main.yaml', config('{settings: {a: 3}}'));
    await until(async () => JSON.stringify((await load(hooks)).at(-1)!.spec) === '{"settings":{"a":3}}');
    expect(log.records.map(({ message }) => message)).toContain('config set is whole again');
  });

  it('that was never whole fails to load with all that is wrong, until it is mended', async () => {
    await put('config/a.yaml', 'a: 1\na: 2\n');
    await put('config/b.yaml', 'kind: Wrong\n');
    const { hooks } = await start({ config: join(dir, 'config') });
    await expect(load(hooks)).rejects.toThrow(
      /a\.yaml:2:1: Map keys must be unique[^]*b\.yaml:1:7: expected kind/,
    );
    await rm(join(dir, 'config/a.yaml'));
    await rm(join(dir, 'config/b.yaml'));
    await until(() => configChanges > 0);
    expect(await load(hooks)).toHaveLength(1);
  });
});

describe('the start', () => {
  it.each([
    [{ resources: ['/nowhere/at/all'] }, /\/nowhere\/at\/all: does not exist/],
    [{ config: '/nowhere/at/all' }, /\/nowhere\/at\/all: does not exist/],
    [{ resource: [] }, /unknown key "resource", did you mean "resources"\?/],
    [{ settings: [] }, /expected an object/],
  ])('fails with %j', async (options, message) => {
    await expect(start(options)).rejects.toThrow(message);
  });
});
