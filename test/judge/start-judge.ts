import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Judge, type JudgeOptions } from '../../plugins/validator-haproxy/src/judge.ts';
import { Launcher } from '../../plugins/validator-haproxy/src/process/launcher.ts';
import { Staging } from '../../plugins/validator-haproxy/src/staging.ts';
import { WorkFolder } from '../../plugins/validator-haproxy/src/work-folder.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { tempDir } from '../haproxy/temp-dir.ts';

export interface StartedJudge {
  readonly judge: Judge;
  /** Where it keeps its files. */
  readonly temp: string;
}

/** Who starts the checks: this process, or one that is there for that. */
export const starters = [
  ['a small process', Infinity],
  ['a launcher', 0],
] as const;

/** A judge with a temp folder of its own, disposed at the end of the test. */
export async function startJudge(
  binary: string,
  options: Partial<JudgeOptions> & { readonly temp?: string; readonly largeBytes?: number } = {},
): Promise<StartedJudge> {
  const { temp = await tempDir(), largeBytes, ...limits } = options;
  const all = { binary, concurrency: 2, timeout: 10_000, maxOutput: 100_000, ...limits };
  const judge = new Judge(all, new Staging(new WorkFolder(temp)), new Launcher(largeBytes));
  onCleanup(() => judge.dispose());
  return { judge, temp };
}

/** A program in HAProxy's place that does what the shell script says. */
export async function script(text: string): Promise<string> {
  const path = join(await tempDir(), 'haproxy');
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
  return path;
}
