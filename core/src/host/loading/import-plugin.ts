import { readFileSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { z } from 'zod';
import { PluginError } from '../../contract/errors.ts';
import { didYouMean } from '../../contract/nearest.ts';
import type { PluginDefinition } from '../../contract/plugin.ts';
import { systemClock } from '../clock.ts';
import { withDeadline } from '../deadline.ts';
import { checkDefinition } from '../definition.ts';
import { shareOwnModules } from './own-modules.ts';

const IMPORT_DEADLINE_MS = 30_000;

export interface ImportedPlugin<H> {
  readonly plugin: PluginDefinition<z.ZodType, H>;
  /** Of the package that it belongs to, where there is one. */
  readonly version: string | undefined;
}

export function isPath(use: string): boolean {
  return use.startsWith('/') || use.startsWith('./') || use.startsWith('../');
}

/** Imports the plugin of a package or path, as seen from the host configuration; packages of the host's own tree come second. */
export async function importPlugin<H>(
  use: string,
  file: string,
  known: readonly string[],
): Promise<ImportedPlugin<H>> {
  const found = resolvePlugin(use, file, known);
  shareOwnModules();
  const url = pathToFileURL(found).href;
  let module: { readonly default?: unknown };
  try {
    // A module may wait for ever at its top level; without a timer Node would then end without a word.
    module = await withDeadline(() => import(url) as Promise<typeof module>, {
      ms: IMPORT_DEADLINE_MS,
      clock: systemClock,
    });
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new PluginError('PLUGIN_IMPORT', use, `cannot be imported: ${text}`, { cause });
  }
  return { plugin: checkDefinition<H>(use, module.default), version: versionOf(url) };
}

/** @throws PluginError `PLUGIN_IMPORT` when there is no such module. */
export function resolvePlugin(use: string, file: string, known: readonly string[]): string {
  const bases = isPath(use) ? [file] : [file, import.meta.url];
  for (const base of bases) {
    try {
      return createRequire(base).resolve(use);
    } catch {
      // the next base, or the error below
    }
  }
  const mend = isPath(use)
    ? 'no such module; is its volume mounted?'
    : `no such package${didYouMean(use, known)}; install it beside the host configuration or give a path`;
  throw new PluginError('PLUGIN_IMPORT', use, `cannot be found from ${file}: ${mend}`);
}

function versionOf(url: string): string | undefined {
  const file = findPackageJSON(url);
  // Where no parent has one, Node 24 gives back the module itself.
  if (file === undefined || basename(file) !== 'package.json') return undefined;
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version?: unknown };
  return typeof version === 'string' ? version : undefined;
}
