import { AsyncSeriesHook, HookMap, SyncHook, SyncWaterfallHook } from 'tapable';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Cancelled, PluginError, Refused, Retry } from '../contract/errors.ts';
import type { PluginContext, PluginDefinition } from '../contract/plugin.ts';
import { fakeClock, memoryLog, memoryMeter } from '../testing/index.ts';
import { Host } from './host.ts';

interface Context {
  readonly signal: AbortSignal;
}

function createTestHooks() {
  return Object.freeze({
    work: new AsyncSeriesHook<[string[], Context]>(['done', 'context'], 'work'),
    shape: new SyncWaterfallHook<[number]>(['value'], 'shape'),
    seen: new SyncHook<[string]>(['what'], 'seen'),
    validate: new HookMap(() => new AsyncSeriesHook<[object, { add(): void }, Context]>(['a', 'b', 'c'])),
  });
}
type TestHooks = ReturnType<typeof createTestHooks>;
type Setup = (context: PluginContext<TestHooks>) => void;

const plugin = (
  name: string,
  setup: Setup,
  extra: Partial<PluginDefinition<z.ZodType, TestHooks>> = {},
): PluginDefinition<z.ZodType, TestHooks> => ({
  name,
  apiVersion: 1,
  options: z.strictObject({}),
  setup,
  ...extra,
});

async function start(...plugins: PluginDefinition<z.ZodType, TestHooks>[]) {
  const clock = fakeClock();
  const log = memoryLog();
  const meter = memoryMeter(clock);
  const host = await Host.start<TestHooks>({
    hooks: createTestHooks(),
    observers: ['seen'],
    deadlines: { work: (done: string[]) => (done.includes('hurry') ? 100 : 5_000) },
    plugins: plugins.map((entry) => ({ plugin: entry })),
    log,
    meter,
    clock,
  });
  return { host, clock, log, meter };
}

const context = (signal = new AbortController().signal) => ({ signal });
const labels = (name: string, hook: string) => ({ plugin: name, hook });

describe('a tap of a stage', () => {
  it('runs in the order of set-up, and is measured', async () => {
    const { host, meter } = await start(
      plugin('a', ({ name, hooks }) => hooks.work.tapPromise(name, async (done) => void done.push(name))),
      plugin('b', ({ name, hooks }) => hooks.work.tap(name, (done) => void done.push(name))),
    );
    const done: string[] = [];
    await host.hooks.work.promise(done, context());
    expect(done).toEqual(['a', 'b']);
    expect(meter.series('haptic_plugin_hook_duration_seconds').map((series) => series.labels)).toEqual([
      labels('a', 'work'),
      labels('b', 'work'),
    ]);
    expect(meter.series('haptic_plugin_errors_total')).toEqual([]);
  });

  it.each<[string, Setup]>([
    [
      'a rejection',
      ({ name, hooks }) => hooks.work.tapPromise(name, () => Promise.reject(new TypeError('no'))),
    ],
    [
      'a throw',
      ({ name, hooks }) =>
        hooks.work.tapPromise(name, () => {
          throw new TypeError('no');
        }),
    ],
    [
      'a throw of a synchronous tap',
      ({ name, hooks }) =>
        hooks.work.tap(name, () => {
          throw new TypeError('no');
        }),
    ],
  ])('has the blame for %s', async (_, setup) => {
    const { host, meter } = await start(plugin('culprit', setup));
    const error = await host.hooks.work.promise([], context()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PluginError);
    expect(error).toMatchObject({
      code: 'PLUGIN_HOOK',
      plugin: 'culprit',
      hook: 'work',
      message: 'culprit: work failed: no',
      cause: expect.any(TypeError) as unknown,
    });
    expect(meter.value('haptic_plugin_errors_total', labels('culprit', 'work'))).toBe(1);
  });

  it.each([new Refused('a'), new Retry('b'), new Cancelled('c')])(
    'keeps what %s says: the plugin is not to blame',
    async (family) => {
      const { host, meter } = await start(
        plugin('a', ({ name, hooks }) =>
          hooks.work.tapPromise(name, async () => {
            throw family;
          }),
        ),
      );
      await expect(host.hooks.work.promise([], context())).rejects.toBe(family);
      expect(meter.series('haptic_plugin_errors_total')).toEqual([]);
    },
  );

  it('has the blame for a time-out, by the deadline of the call or its own', async () => {
    const hang: Setup = ({ name, hooks }) => hooks.work.tapPromise(name, () => new Promise<void>(() => {}));
    const own: Setup = ({ name, hooks }) =>
      hooks.work.tapPromise({ name, deadlineMs: 7_000 }, () => new Promise<void>(() => {}));
    for (const [setup, done, ms] of [
      [hang, [], 5_000],
      [hang, ['hurry'], 100],
      [own, ['hurry'], 7_000],
    ] as const) {
      const { host, clock, meter } = await start(plugin('slow', setup));
      const call = host.hooks.work.promise([...done], context());
      const failed = expect(call).rejects.toMatchObject({
        code: 'PLUGIN_TIMEOUT',
        message: `slow: work did not finish within ${ms / 1000} s`,
      });
      await clock.advance(ms - 1);
      expect(host.pending()).toEqual([{ plugin: 'slow', hook: 'work', runningMs: ms - 1 }]);
      await clock.advance(1);
      await failed;
      expect(meter.value('haptic_plugin_errors_total', labels('slow', 'work'))).toBe(1);
    }
  });

  it('is told when the work is called off, and whatever it throws then is no failure', async () => {
    const abort = new AbortController();
    const { host, meter } = await start(
      plugin('a', ({ name, hooks }) =>
        hooks.work.tapPromise(name, async (_, { signal }) => {
          abort.abort();
          signal.throwIfAborted();
        }),
      ),
    );
    await expect(host.hooks.work.promise([], context(abort.signal))).rejects.toBeInstanceOf(Cancelled);
    expect(meter.series('haptic_plugin_errors_total')).toEqual([]);
  });

  it('names a synchronous tap that took longer than its deadline', async () => {
    const clock = fakeClock();
    let time = 0;
    const log = memoryLog();
    const host = await Host.start<TestHooks>({
      hooks: createTestHooks(),
      observers: ['seen'],
      plugins: [
        {
          plugin: plugin('busy', ({ name, hooks }) =>
            hooks.shape.tap(name, (value) => (time += 10_001) + value),
          ),
        },
      ],
      log,
      clock: { ...clock, now: () => time },
    });
    host.hooks.shape.call(1);
    expect(log.records).toMatchObject([
      { level: 'warn', fields: { plugin: 'busy', hook: 'shape', durationMs: 10_001 } },
    ]);
  });

  it('is guarded too when it was there before the host', async () => {
    const hooks = createTestHooks();
    hooks.work.tapPromise('core', () => Promise.reject(new Error('no')));
    const host = await Host.start<TestHooks>({ hooks, observers: ['seen'], plugins: [], log: memoryLog() });
    await expect(host.hooks.work.promise([], context())).rejects.toThrow('core: work failed: no');
  });

  it('does not run once the host has stopped, since tapable has no untap', async () => {
    const done: string[] = [];
    const { host } = await start(
      plugin('a', ({ name, hooks }) => {
        hooks.work.tapPromise(name, async () => void done.push('work'));
        hooks.seen.tap(name, () => void done.push('seen'));
      }),
    );
    await host.close();
    await expect(host.hooks.work.promise([], context())).rejects.toThrow('the host has stopped');
    host.hooks.seen.call('x');
    expect(done).toEqual([]);
  });
});

describe('an observer', () => {
  it('fails alone: the failure is logged and counted, and the others still see', async () => {
    const seen: string[] = [];
    const { host, log, meter } = await start(
      plugin('broken', ({ name, hooks }) =>
        hooks.seen.tap(name, () => {
          throw new Error('no');
        }),
      ),
      plugin('fine', ({ name, hooks }) => hooks.seen.tap(name, (what) => void seen.push(what))),
    );
    host.hooks.seen.call('x');
    expect(seen).toEqual(['x']);
    expect(log.records).toMatchObject([
      {
        level: 'error',
        message: 'an observer failed',
        fields: { plugin: 'broken', hook: 'seen', err: { message: 'broken: seen failed: no' } },
      },
    ]);
    expect(meter.value('haptic_plugin_errors_total', labels('broken', 'seen'))).toBe(1);
  });

  it('that returns a promise is a failure, and the rejection is not lost on the process', async () => {
    const { host, log } = await start(
      plugin('sneaky', ({ name, hooks }) =>
        hooks.seen.tap(name, () => Promise.reject(new Error('lost')) as never),
      ),
    );
    host.hooks.seen.call('x');
    expect(log.records[0]?.fields).toMatchObject({
      err: { message: expect.stringContaining('use tapPromise') as string },
    });
  });
});

describe('tapping', () => {
  const tap =
    (...args: unknown[]) =>
    ({ hooks }: PluginContext<TestHooks>) =>
      (hooks.work.tap as (...args: unknown[]) => void)(...args);

  it.each<[string, Setup, string]>([
    ['before another', tap({ name: 'a', before: 'unknown' }, () => {}), '`before` is not supported'],
    ['with a stage', tap({ name: 'a', stage: -1 }, () => {}), '`stage` is not supported'],
    ['under another name', tap('b', () => {}), 'the first argument must be the plugin\'s name, "a"'],
    ['with an asynchronous function', tap('a', async () => {}), 'tap takes a synchronous function'],
    ['with no function', tap('a'), 'must be a function'],
    ['with a deadline that is none', tap({ name: 'a', deadlineMs: 0 }, () => {}), '`deadlineMs` must be'],
    [
      'a synchronous hook with a promise',
      ({ hooks }) =>
        (hooks.seen as unknown as { tapPromise(...args: unknown[]): void }).tapPromise('a', async () => {}),
      'the hook is synchronous',
    ],
    [
      'judges without being one',
      ({ hooks }) =>
        (hooks as unknown as { validate: { tap(...args: unknown[]): void } }).validate.tap('a', () => {}),
      "declare `judge` ('haproxy', 'external', 'custom')",
    ],
  ])('%s is a start error', async (_, setup, message) => {
    await expect(start(plugin('a', setup))).rejects.toMatchObject({
      code: 'PLUGIN_API',
      plugin: 'a',
      message: expect.stringContaining(message) as string,
    });
  });

  it('after setup is refused', async () => {
    let late: (() => void) | undefined;
    await start(plugin('a', ({ name, hooks }) => (late = () => hooks.work.tap(name, () => {}))));
    expect(late).toThrow('taps are made during setup');
  });

  it('nothing is a start error for a judge', async () => {
    await expect(start(plugin('a', () => {}, { judge: 'custom' }))).rejects.toMatchObject({
      code: 'PLUGIN_SET',
      message: "a: declares the judge kind 'custom' but judges nothing: tap hooks.validate in setup",
    });
  });

  it('is what makes a hook used, not the interceptor of the host', async () => {
    const { host } = await start();
    expect(host.hooks.work.isUsed()).toBe(true);
    expect(host.hooks.work.taps).toEqual([]);
  });
});
