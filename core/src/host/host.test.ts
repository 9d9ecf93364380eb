import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { PluginDefinition } from '../contract/plugin.ts';
import { definePlugin } from '../contract/plugin.ts';
import { serviceKey } from '../contract/service-key.ts';
import { METER } from '../contract/services.ts';
import { fakeClock, memoryLog, memoryMeter } from '../testing/index.ts';
import { controllerRules, createHooks } from './controller-hooks.ts';
import { describePlugins } from './describe.ts';
import type { EnabledPlugin } from './enabled.ts';
import { Host } from './host.ts';
import type { Hooks } from '../contract/hooks.ts';
import { offer, type ServiceOffer } from './services.ts';

type Plugin = PluginDefinition;
type Setup = Plugin['setup'];

const plugin = (name: string, setup: Setup = () => {}, extra: Partial<Plugin> = {}): Plugin => ({
  name,
  apiVersion: 1,
  options: z.strictObject({}),
  setup,
  ...extra,
});

function start(plugins: readonly (Plugin | EnabledPlugin<Hooks>)[], services: readonly ServiceOffer[] = []) {
  const clock = fakeClock();
  const log = memoryLog();
  const enabled = plugins.map((entry) => ('plugin' in entry ? entry : { plugin: entry }));
  const { observers, deadlines } = controllerRules;
  const started = Host.start({
    hooks: createHooks(),
    observers,
    deadlines,
    plugins: enabled,
    services,
    log,
    clock,
  });
  return { started, clock, log };
}

const failure = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) as string }) as Error;

describe('starting', () => {
  it('judges every plugin and all options before any setup, and reports all errors', async () => {
    let setUp = 0;
    const counted: Setup = () => void setUp++;
    const strict = { options: z.strictObject({ listen: z.string(), workers: z.number().default(2) }) };
    const { started } = start([
      plugin('fine', counted),
      { plugin: plugin('a', counted, strict), options: { lisen: 'x', workers: 'many' } },
      {
        plugin: plugin('b', counted),
        options: { x: 1 },
        locate: (path) => `haptic.config.yaml:${path.length}:5`,
      },
      plugin('c', counted, { apiVersion: 2 as 1 }),
    ]);
    const error = (await started.catch((reason: unknown) => reason)) as AggregateError;
    expect(error.errors.map(({ code, plugin }) => [plugin, code])).toEqual([
      ['a', 'PLUGIN_OPTIONS'],
      ['b', 'PLUGIN_OPTIONS'],
      ['c', 'PLUGIN_API'],
    ]);
    expect(error.message).toContain('unknown key "lisen", did you mean "listen"?');
    expect(error.message).toContain('workers: expected a number, got "many"');
    expect(error.message).toContain('b: options are not valid: haptic.config.yaml:1:5: unknown key "x"');
    expect(error.message).toContain('c: needs version 2 of the plugin contract, this host has 1');
    expect(setUp).toBe(0);
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'has no default export made by definePlugin'],
    ['no name', { apiVersion: 1, options: z.strictObject({}), setup() {} }, 'name: missing, expected text'],
    ['a name that cannot be a label', plugin('My Plugin'), 'lower-case words'],
    ['options without a schema', { ...plugin('a'), options: {} }, 'must be a zod schema'],
    ['no setup', { ...plugin('a'), setup: 1 }, 'must be a function'],
    ['a misspelt key', { ...plugin('a'), afer: [] }, 'unknown key "afer", did you mean "after"?'],
    ['an unknown judge kind', { ...plugin('a'), judge: 'haprox' }, 'did you mean "haproxy"?'],
  ])('refuses a definition with %s', async (_, definition, message) => {
    await expect(
      start([{ plugin: definition as Plugin, origin: { use: './x.mjs', from: 'config' } }]).started,
    ).rejects.toThrow(failure('PLUGIN_API', message));
  });

  it('gives setup the options with their defaults, and the plugins in order', async () => {
    const seen: unknown[] = [];
    const note: Setup = ({ name }, options) => void seen.push([name, options]);
    const options = z.strictObject({ size: z.number().default(3) });
    const { started } = start([plugin('b', note, { after: ['a'] }), plugin('a', note, { options })]);
    await using host = await started;
    expect(seen).toEqual([
      ['a', { size: 3 }],
      ['b', {}],
    ]);
    expect(host.plugins.map(({ plugin }) => plugin.name)).toEqual(['a', 'b']);
  });

  it('undoes what was set up when a setup fails, and keeps the first error', async () => {
    const events: string[] = [];
    const { started, log } = start([
      plugin('a', ({ onDispose }) => onDispose(() => void events.push('a'))),
      plugin('b', ({ onDispose, signal }) => {
        onDispose(() => {
          events.push(`b ${signal.aborted}`);
          throw new Error('second');
        });
        throw new Error('first');
      }),
      plugin('c', () => void events.push('c')),
    ]);
    await expect(started).rejects.toThrow(failure('PLUGIN_SETUP', 'b: setup failed: first'));
    expect(events).toEqual(['b true', 'a']);
    expect(log.records).toMatchObject([{ level: 'error', message: 'undoing a failed start failed too' }]);
  });

  it('gives up on a setup that hangs, and closes what it opens later', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let closed = false;
    const { started, clock } = start([
      plugin('slow', async ({ onDispose }) => {
        await promise;
        onDispose(() => void (closed = true));
      }),
    ]);
    const failed = expect(started).rejects.toThrow('slow: setup failed: did not finish within 30 s');
    await clock.advance(60_000);
    await failed;
    resolve();
    await clock.advance(0);
    expect(closed).toBe(true);
  });

  it('refuses two owners of one config key', async () => {
    const config = { key: 'validators', schema: z.unknown() };
    const { started } = start([plugin('a', undefined, { config }), plugin('b', undefined, { config })]);
    await expect(started).rejects.toThrow(
      failure('PLUGIN_SET', 'b: owns the config key "validators", as a does'),
    );
  });
});

describe('the rules of the controller', () => {
  const source = plugin('source', ({ name, hooks }) => hooks.load.tapPromise(name, async () => {}));
  const haproxy = plugin('checker', ({ name, hooks }) => hooks.validate.tap(name, () => {}), {
    judge: 'haproxy',
  });
  const begin = async (plugins: readonly Plugin[], renderers = ['core']) => {
    const hooks = createHooks();
    for (const name of renderers) hooks.render.tapPromise(name, () => Promise.reject(new Error('unused')));
    const enabled = plugins.map((entry) => ({ plugin: entry }));
    return await Host.start({
      ...controllerRules,
      hooks,
      plugins: enabled,
      log: memoryLog(),
      clock: fakeClock(),
    });
  };

  it('accept one source, one renderer and one haproxy judge', async () => {
    await using host = await begin([source, haproxy]);
    expect(host.hooksOf('checker')).toEqual(['validate:haproxy']);
  });

  it.each<[string, Plugin[], string[], string]>([
    [
      'no haproxy judge',
      [source],
      ['core'],
      "exactly one judge of kind 'haproxy' is needed, none is enabled",
    ],
    [
      'a judge of another kind instead',
      [source, { ...haproxy, judge: 'custom' }],
      ['core'],
      "exactly one judge of kind 'haproxy' is needed, none is enabled",
    ],
    [
      'two haproxy judges',
      [source, haproxy, { ...haproxy, name: 'lax' }],
      ['core'],
      'enabled are checker, lax',
    ],
    ['no source', [haproxy], ['core'], 'exactly one config source is needed, none is enabled'],
    ['two sources', [source, { ...source, name: 'other' }, haproxy], ['core'], 'enabled are source, other'],
    ['no renderer', [source, haproxy], [], 'exactly one renderer is needed'],
    [
      'two renderers',
      [source, haproxy],
      ['core', 'mine'],
      'exactly one renderer is needed, enabled are core, mine',
    ],
  ])('refuse %s', async (_, plugins, renderers, message) => {
    await expect(begin(plugins, renderers)).rejects.toThrow(failure('PLUGIN_SET', message));
  });

  it('undo the start that they refuse', async () => {
    let disposed = false;
    const open = plugin('a', ({ onDispose }) => onDispose(() => void (disposed = true)));
    await expect(begin([open])).rejects.toThrow('config source');
    expect(disposed).toBe(true);
  });
});

describe('services', () => {
  const NUMBER = serviceKey<number>('number');

  it('come from one plugin or from the owner of the host', async () => {
    const seen: unknown[] = [];
    const { started } = start(
      [
        plugin('a', ({ provide }) => provide(NUMBER, 1)),
        plugin('b', ({ use, tryUse }) => {
          // Equal names are equal keys: a plugin outside the tree may make its own.
          seen.push(use(serviceKey<number>('number')), use(serviceKey('text')), tryUse(serviceKey('none')));
        }),
      ],
      [offer(serviceKey<string>('text'), 'x')],
    );
    await using host = await started;
    expect(seen).toEqual([1, 'x', undefined]);
    expect(host.use(NUMBER)).toBe(1);
    expect(host.servicesOf('a')).toEqual(['number']);
  });

  it('may be found after setup, so that the order does not matter to who waits', async () => {
    let later: (() => number) | undefined;
    const { started } = start([
      plugin('b', ({ use }) => void (later = () => use(NUMBER))),
      plugin('a', ({ provide }) => provide(NUMBER, 2)),
    ]);
    await using _host = await started;
    expect(later?.()).toBe(2);
  });

  it.each<[string, Plugin[], string]>([
    [
      'a second provider',
      [plugin('a', ({ provide }) => provide(NUMBER, 1)), plugin('b', ({ provide }) => provide(NUMBER, 2))],
      'b: the service "number" is already provided by a; enable only one of the two',
    ],
    [
      'a service that nobody provides',
      [
        plugin('a', ({ provide }) => provide(NUMBER, 1)),
        plugin('b', ({ use }) => void use(serviceKey('numbr'))),
      ],
      'b: nobody provides the service "numbr", did you mean "number"? (provided so far: number); ' +
        'enable a plugin that does, and name it in `after`',
    ],
  ])('refuse %s', async (_, plugins, message) => {
    await expect(start(plugins).started).rejects.toThrow(failure('PLUGIN_SERVICE', message));
  });

  it('of a meter take over what everybody measures, also those who came before', async () => {
    const metric = { name: 'haptic_x_total', help: 'x', labels: ['of'] };
    const meter = memoryMeter(fakeClock());
    let count: (() => void) | undefined;
    const { started } = start([
      plugin('early', ({ meter }) => void (count = () => meter.count(metric, { of: 'early' }))),
      plugin('metrics', ({ provide }) => provide(METER, meter)),
    ]);
    await using host = await started;
    count?.();
    host.hooks.configRejected.call(new Error('x'), { reason: 'ConfigInvalid' });
    expect(meter.value('haptic_x_total', { of: 'early' })).toBe(1);
  });

  it('of a meter that fails harm nobody', async () => {
    const broken = {
      ...memoryMeter(fakeClock()),
      observe() {
        throw new Error('no such label');
      },
    };
    const { started, log } = start([
      plugin('metrics', ({ provide }) => provide(METER, broken)),
      plugin('source', ({ name, hooks }) => hooks.load.tapPromise(name, async (set) => set.provide([]))),
    ]);
    await using host = await started;
    let provided = false;
    const signal = new AbortController().signal;
    await host.hooks.load.promise(
      { version() {}, provide: () => void (provided = true) },
      { signal, caller: 'reconcile' },
    );
    expect(provided).toBe(true);
    expect(log.records).toMatchObject([
      {
        level: 'error',
        message: 'measuring failed',
        fields: { metric: 'haptic_plugin_hook_duration_seconds' },
      },
    ]);
  });
});

describe('health and listing', () => {
  it('asks each check, and takes a throw for an answer', async () => {
    const { started } = start([
      plugin('a', ({ health }) => {
        health('socket', () => undefined);
        health('disk', () => 'full');
      }),
      plugin('b', ({ health }) =>
        health('link', () => {
          throw new Error('down');
        }),
      ),
    ]);
    await using host = await started;
    expect(await host.health()).toEqual([
      { plugin: 'a', name: 'socket', problem: undefined },
      { plugin: 'a', name: 'disk', problem: 'full' },
      { plugin: 'b', name: 'link', problem: 'down' },
    ]);
  });

  it('waits for checks, but not for one that hangs', async () => {
    const { started, clock } = start([
      plugin('a', ({ health }) => {
        health('slow', async () => 'late');
        health('hung', () => new Promise(() => {}));
      }),
    ]);
    await using host = await started;
    const answer = host.health();
    await clock.advance(1_000);
    expect(await answer).toEqual([
      { plugin: 'a', name: 'slow', problem: 'late' },
      { plugin: 'a', name: 'hung', problem: 'did not finish within 1 s' },
    ]);
  });

  it('lists what is loaded, in order, with its secrets redacted', async () => {
    const options = z.strictObject({ url: z.string(), token: z.string(), size: z.number().default(1) });
    const judge = plugin(
      'judge',
      ({ name, hooks, provide }) => {
        hooks.validate.tap(name, () => {});
        hooks.applied.tap(name, () => {});
        provide(serviceKey('words'), {});
      },
      { options, judge: 'custom', after: ['first'] },
    );
    const { started } = start([
      {
        plugin: judge,
        options: { url: 'https://u:hunter2@example.org', token: 'hunter2' },
        origin: { use: '/plugins/judge.mjs', from: 'config', version: '1.2.3' },
      },
      plugin('first'),
    ]);
    await using host = await started;
    expect(describePlugins(host)).toEqual([
      {
        name: 'first',
        position: 1,
        origin: { use: 'first', from: 'built-in' },
        apiVersion: 1,
        after: [],
        hooks: [],
        services: [],
        options: {},
      },
      {
        name: 'judge',
        position: 2,
        origin: { use: '/plugins/judge.mjs', from: 'config', version: '1.2.3' },
        apiVersion: 1,
        judge: 'custom',
        after: ['first'],
        hooks: ['validate:custom', 'applied'],
        services: ['words'],
        options: { url: 'https://[redacted]@example.org', token: '[redacted]', size: 1 },
      },
    ]);
  });
});

describe('closing', () => {
  it('aborts, then disposes in reverse, once', async () => {
    const events: string[] = [];
    const named = (name: string) =>
      plugin(name, ({ onDispose, signal }) => {
        signal.addEventListener('abort', () => events.push(`${name} told`));
        onDispose(() => void events.push(`${name} 1`));
        onDispose(async () => void events.push(`${name} 2`));
      });
    const { started } = start([named('a'), named('b')]);
    const host = await started;
    await Promise.all([host.close(), host.close(), host[Symbol.asyncDispose]()]);
    expect(events).toEqual(['a told', 'b told', 'b 2', 'b 1', 'a 2', 'a 1']);
    expect(host.undisposed()).toEqual([]);
  });

  it('tries everything, and reports all failures', async () => {
    const broken = (name: string) =>
      plugin(name, ({ onDispose }) =>
        onDispose(() => {
          throw new Error(`${name} broke`);
        }),
      );
    const { started } = start([broken('a'), broken('b')]);
    const host = await started;
    const error = (await host.close().catch((reason: unknown) => reason)) as AggregateError;
    expect(error.errors.map(({ code, message }) => [code, message])).toEqual([
      ['PLUGIN_DISPOSE', 'b: dispose failed: b broke'],
      ['PLUGIN_DISPOSE', 'a: dispose failed: a broke'],
    ]);
  });

  it('names what hangs at the deadline, and still disposes the others', async () => {
    let disposed = false;
    const { started, clock } = start([
      plugin('first', ({ onDispose }) => onDispose(() => void (disposed = true))),
      plugin('stuck', ({ onDispose }) => onDispose(() => new Promise<void>(() => {}))),
      plugin('busy', ({ name, hooks }) => hooks.load.tapPromise(name, () => new Promise<void>(() => {}))),
    ]);
    const host = await started;
    const signal = new AbortController().signal;
    void host.hooks.load.promise({ version() {}, provide() {} }, { signal, caller: 'reconcile' });
    const closed = host.close({ deadlineMs: 8_000 }).catch((reason: unknown) => reason);
    await clock.advance(8_000);
    expect(await closed).toMatchObject({
      errors: [
        { code: 'PLUGIN_TIMEOUT', plugin: 'busy', hook: 'load' },
        { code: 'PLUGIN_TIMEOUT', plugin: 'stuck', hook: 'dispose' },
      ],
    });
    expect(disposed).toBe(true);
    expect(host.pending().map(({ plugin, hook }) => [plugin, hook])).toEqual([
      ['busy', 'load'],
      ['stuck', 'dispose'],
    ]);
    expect(host.undisposed()).toEqual(['stuck']);
  });

  it('waits for the running taps of a plugin before it disposes it', async () => {
    const events: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const { started, clock } = start([
      plugin('a', ({ name, hooks, onDispose }) => {
        hooks.load.tapPromise(name, async () => {
          await promise;
          events.push('loaded');
        });
        onDispose(() => void events.push('disposed'));
      }),
    ]);
    const host = await started;
    const signal = new AbortController().signal;
    const load = host.hooks.load.promise({ version() {}, provide() {} }, { signal, caller: 'reconcile' });
    const closed = host.close();
    await clock.advance(100);
    resolve();
    await Promise.all([load, closed]);
    expect(events).toEqual(['loaded', 'disposed']);
  });
});

it('a definition keeps the type of its options', () => {
  const definition = definePlugin({
    name: 'typed',
    apiVersion: 1,
    options: z.strictObject({ size: z.number().default(1) }),
    setup(_, options) {
      options.size.toFixed();
      // @ts-expect-error the option does not exist
      void options.sise;
    },
  });
  expect(definition.name).toBe('typed');
});
