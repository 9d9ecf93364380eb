import { normalize } from 'node:path';
import { z } from 'zod';
import {
  CONFIG_CHANGES,
  definePlugin,
  isJsonObject,
  OBJECT_CHECKS,
  RESOURCE_SOURCE,
  type JsonObject,
  type PluginContext,
} from '@haptic/core/contract';
import { FileConfig } from './config/file-config.ts';
import { readConfigFile } from './config/read-config-file.ts';
import { FileTree } from './files/file-tree.ts';
import type { Root } from './files/list-files.ts';
import { FileResources } from './objects/file-resources.ts';
import { misspeltKind } from './objects/misspelt-kind.ts';
import { CheckRegistry } from './objects/object-checks.ts';
import { readObjects, type Admission } from './objects/read-objects.ts';
import { readDocuments } from './yaml/documents.ts';

const path = z.string().min(1).transform(normalize);

const options = z.strictObject({
  /** The config set's folder: libraries, and at most one config. */
  config: path.exactOptional(),
  /** Files of shipped libraries, in the order in which they are merged where the config does not say. */
  libraries: z.array(path).default([]),
  /** Folders of Kubernetes objects. */
  resources: z.array(path).default([]),
  /** Laid over the config's settings, last. */
  settings: z.custom<JsonObject>(isJsonObject, 'expected an object').default({}),
  /** Follow changes of files. */
  watch: z.boolean().default(true),
});
type Options = z.output<typeof options>;

function folder(path: string): Root {
  return { kind: 'folder', path };
}

function file(path: string): Root {
  return { kind: 'file', path };
}

/** Follows a tree until the host stops; the host waits for what it is in the middle of. */
function follow(context: PluginContext, tree: FileTree<unknown>, onChange: () => void): void {
  const following = tree.follow(onChange, context.signal).catch((error: unknown) => {
    context.log.error({ error }, 'following files failed, their changes are no longer seen');
  });
  context.onDispose(() => following);
}

async function provideConfig(
  context: PluginContext,
  { config, libraries, settings, watch }: Options,
): Promise<void> {
  const { log, clock, signal } = context;
  const tree = new FileTree({
    roots: [...libraries.map(file), ...(config === undefined ? [] : [folder(config)])],
    watch,
    parse: async (path, text) => readConfigFile(path, await readDocuments(path, text)),
    log,
    clock,
  });
  await tree.start(signal);
  const set = new FileConfig({ tree, libraries, settings, log });
  set.update();
  context.hooks.load.tapPromise(context.name, (collector) => {
    collector.provide(set.sources());
    return Promise.resolve();
  });
  if (!watch) return;
  follow(context, tree, () => {
    if (set.update()) context.tryUse(CONFIG_CHANGES)?.changed();
  });
}

async function provideResources(context: PluginContext, { resources, watch }: Options): Promise<void> {
  const { log, clock, signal } = context;
  const checks = new CheckRegistry();
  const admission: Admission = (object) => [
    ...misspeltKind(object, source.wanted),
    ...checks.problems(object),
  ];
  const tree = new FileTree({
    roots: resources.map(folder),
    watch,
    parse: async (path, text) => readObjects(await readDocuments(path, text), admission),
    log,
    clock,
  });
  await tree.requireRoots();
  const source = new FileResources({
    tree,
    log,
    start: async () => {
      await tree.start(signal);
      if (watch) follow(context, tree, () => source.update());
    },
  });
  context.provide(RESOURCE_SOURCE, source);
  context.provide(OBJECT_CHECKS, checks);
}

/** The config set and watched resources from folders of YAML. */
export default definePlugin({
  name: 'source-file',
  apiVersion: 1,
  options,
  async setup(context, options) {
    await provideConfig(context, options);
    await provideResources(context, options);
  },
});
