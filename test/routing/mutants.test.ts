import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PluginDefinition } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { onCleanup } from '../haproxy/cleanup.ts';
import { forEachVersion, type Haproxy } from '../haproxy/versions.ts';
import { caseDifferences, caseRules } from './case-run.ts';
import { caseTable } from './case-table.ts';
import { replaceOnce } from './libraries.ts';
import { mutations, type Mutation } from './mutants.ts';
import { productionPlugins, type RoutingPlugins } from './plugin-globals.ts';
import { randomSet } from './random-run.ts';
import { ruleSource, servicesOf } from './rules.ts';
import { startSite, upstream } from './site.ts';

const root = join(import.meta.dirname, '../..');
const randomSets = 10;

/** The routing plugin with the mistake in it, loaded from a copy of its source. */
async function mutant({ file, from, to }: Mutation): Promise<RoutingPlugins> {
  // Within the work tree, where packages resolve; ignored by git.
  const scratch = join(root, '.haptic');
  await mkdir(scratch, { recursive: true });
  const folder = await mkdtemp(join(scratch, 'mutant-'));
  onCleanup(() => rm(folder, { recursive: true, force: true }));
  await cp(join(root, 'plugins/routing/src'), folder, { recursive: true });
  const path = join(folder, file);
  await writeFile(path, replaceOnce(await readFile(path, 'utf8'), from, to));
  const { default: routing } = (await import(join(folder, 'index.ts'))) as { default: PluginDefinition };
  return { ...productionPlugins, routing };
}

/** The first difference that the case table or a random set shows. */
async function firstDifference(haproxy: Haproxy, plugins: RoutingPlugins): Promise<string | undefined> {
  const { port: upstreamPort } = await upstream();
  const objects = servicesOf(caseRules, upstreamPort);
  const site = await startSite(haproxy, { sources: [ruleSource(caseRules)], objects, plugins });
  const [difference] = await caseDifferences(site, caseTable.cases);
  await site.stop();
  if (difference !== undefined) return difference;
  for (let seed = 1; seed <= randomSets; seed += 1) {
    const [other] = await randomSet({ haproxy, upstreamPort, seed, plugins });
    if (other !== undefined) return other;
  }
  return undefined;
}

forEachVersion(
  (haproxy) => {
    test.each(mutations)('noticed: $what', async (mutation) => {
      expect(await firstDifference(haproxy, await mutant(mutation))).toBeDefined();
    });
  },
  ['3.4'],
);
