import type { Dropped } from '../config/index.ts';
import { compileConfig, createNames } from '../templates/index.ts';
import type { Controller, ControllerOptions } from './api.ts';
import { composeController } from './compose.ts';
import { sha256 } from './sha256.ts';

function snippets(dropped: readonly Dropped[]): ReadonlySet<string> {
  return new Set(dropped.filter(({ kind }) => kind === 'templateSnippets').map(({ name }) => name));
}

/** A controller with these plugins, set up; nothing runs yet. @throws PluginError for a plugin that can not be started. */
export function createController(options: ControllerOptions): Promise<Controller> {
  const names = createNames(sha256);
  return composeController(options, {
    names,
    compile: (config, dropped) => compileConfig(config, names, { dropped: snippets(dropped) }),
  });
}
