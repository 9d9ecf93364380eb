import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { PluginError } from '../contract/errors.ts';
import type { Hooks } from '../contract/hooks.ts';
import type { PluginDefinition } from '../contract/plugin.ts';
import { controllerRules, createHooks } from '../host/controller-hooks.ts';
import { checkDefinition, parseOptions } from '../host/definition.ts';
import { Host } from '../host/host.ts';
import type { ServiceOffer } from '../host/services.ts';
import { memoryLog } from './memory-log.ts';

/** One check of a contract; give it to any test runner. */
export interface ContractCheck {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** What a plugin needs to be set up. */
export interface PluginSubject {
  /** Valid options. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Services that other plugins or the core would provide; made anew for each host. */
  readonly services?: () => readonly ServiceOffer[];
  /** Plugins that it waits for with `after`. */
  readonly others?: readonly PluginDefinition[];
  /** How long handles may take to go after the disposal, sockets and processes close in their own time. Default 5 s. */
  readonly closeMs?: number;
}

const CLOSE_MS = 5_000;

/** What every plugin of the controller must keep to, whatever it does. */
export function pluginContract(plugin: PluginDefinition, subject: PluginSubject): readonly ContractCheck[] {
  const { name } = plugin;
  const start = (): Promise<Host<Hooks>> => startHost(plugin, subject);
  return [
    check(`${name} is a definition of this contract`, async () => {
      checkDefinition(name, plugin);
    }),
    check(`${name} refuses an option that it does not have, in its own name`, async () => {
      assert.throws(
        () => parseOptions(plugin, { ...subject.options, noSuchOption: 1 }),
        isError(name, 'PLUGIN_OPTIONS'),
      );
    }),
    check(`${name} can be set up again on a new host`, async () => {
      for (let run = 0; run < 2; run++) {
        const host = await start();
        await host.close();
      }
    }),
    check(`${name} closes everything that it opens`, async () => {
      const before = openResources();
      const host = await start();
      await host.close();
      assert.deepEqual(host.undisposed(), []);
      assert.deepEqual(host.pending(), []);
      await untilNone(() => leaked(before), subject.closeMs ?? CLOSE_MS, `${name} left open`);
    }),
  ];
}

function check(name: string, run: () => Promise<void>): ContractCheck {
  return { name, run };
}

async function startHost(plugin: PluginDefinition, subject: PluginSubject): Promise<Host<Hooks>> {
  const { options, services = () => [], others = [] } = subject;
  const { observers, deadlines } = controllerRules;
  return await Host.start({
    hooks: createHooks(),
    observers,
    deadlines,
    plugins: [...others.map((other) => ({ plugin: other })), { plugin, options }],
    services: services(),
    log: memoryLog(),
  });
}

function isError(plugin: string, code: string): (error: unknown) => boolean {
  return (error) => error instanceof PluginError && error.plugin === plugin && error.code === code;
}

/** Kinds of what keeps the process busy, with their numbers. */
function openResources(): Map<string, number> {
  const open = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) open.set(kind, (open.get(kind) ?? 0) + 1);
  return open;
}

function leaked(before: ReadonlyMap<string, number>): string[] {
  return Array.from(openResources())
    .filter(([kind, count]) => count > (before.get(kind) ?? 0))
    .map(([kind, count]) => `${count - (before.get(kind) ?? 0)} ${kind}`);
}

/** Looks again and again: real handles have no clock that could be moved on. */
async function untilNone(list: () => readonly string[], ms: number, what: string): Promise<void> {
  const end = performance.now() + ms;
  while (list().length > 0 && performance.now() < end) await wait(10, undefined, { ref: false });
  const left = list();
  assert.ok(left.length === 0, `${what}: ${left.join(', ')}`);
}
