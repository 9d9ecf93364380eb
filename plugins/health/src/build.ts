import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { ControllerAccess, JudgeBinary, LoadedPlugin } from '@haptic/core/contract';
import type { BuildFacts } from './options.ts';

/** The body of `/build`: two processes that answer the same judge the same. */
export interface Build extends BuildFacts {
  /** Of the HAProxy that judges. */
  readonly haproxyVersion: string;
  readonly plugins: readonly (LoadedPlugin & {
    /** Of the file, where the plugin is one. */ readonly digest?: string;
  })[];
}

export async function describeBuild(
  controller: Pick<ControllerAccess, 'plugins'>,
  judge: Pick<JudgeBinary, 'version'>,
  facts: () => Promise<BuildFacts>,
): Promise<Build> {
  const [build, haproxyVersion, plugins] = await Promise.all([
    facts(),
    judge.version(),
    Promise.all(controller.plugins().map(withDigest)),
  ]);
  return { ...build, haproxyVersion, plugins };
}

/** A plugin that was mounted from somewhere has no version of its own. */
async function withDigest(plugin: LoadedPlugin): Promise<LoadedPlugin & { readonly digest?: string }> {
  if (!isAbsolute(plugin.use)) return plugin;
  return {
    ...plugin,
    digest: createHash('sha256')
      .update(await readFile(plugin.use))
      .digest('hex'),
  };
}
