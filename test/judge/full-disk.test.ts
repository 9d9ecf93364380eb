import { execa } from 'execa';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../haproxy/temp-dir.ts';

const root = join(import.meta.dirname, '../..');

/** Stages a small set, one that does not fit, and the small one again; prints what came of each. */
const program = (temp: string): string => `
import { Staging } from '${root}/plugins/validator-haproxy/src/staging.ts';
import { WorkFolder } from '${root}/plugins/validator-haproxy/src/work-folder.ts';
import { renderedFiles } from '${root}/test/judge/file-set.ts';

const staging = new Staging(new WorkFolder('${temp}'));
const sets = [
  { 'haproxy.cfg': 'small', 'maps/a.map': 'a 1' },
  { 'haproxy.cfg': 'small', 'maps/a.map': 'x'.repeat(100_000) },
  { 'haproxy.cfg': 'x'.repeat(100_000), 'maps/a.map': 'a 1' },
  { 'haproxy.cfg': 'small', 'maps/a.map': 'a 1' },
];
for (const set of sets) {
  const use = () => Promise.resolve('staged');
  const answer = staging.withTree(renderedFiles(set).files, new AbortController().signal, use);
  console.log(await answer.catch((error) => error.name + ': ' + error.message));
}
await staging.dispose();
`;

/** A limit on the size of files stands for a full disk: writes fail in the middle in the same way. */
test('a disk that takes no more is no verdict, and the next check is fine again', async () => {
  const temp = await tempDir();
  const node = [process.execPath, '--conditions=source', '--input-type=module', '-e', program(temp)];
  const { stdout } = await execa('sh', ['-c', 'ulimit -f 8; exec "$@"', 'sh', ...node]);
  const failed = /^Retry: cannot stage the files to check in \S+: EFBIG/;
  expect(stdout.split('\n')).toEqual([
    'staged',
    expect.stringMatching(failed),
    expect.stringMatching(failed),
    'staged',
  ]);
  expect(await readdir(temp)).toEqual([]);
});
