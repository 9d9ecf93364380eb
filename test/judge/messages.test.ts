import type { ReportedFinding } from '@haptic/core/contract';
import { glob, readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { findingsOf } from '../../plugins/validator-haproxy/src/findings.ts';
import { Judge } from '../../plugins/validator-haproxy/src/judge.ts';
import { runProcess } from '../../plugins/validator-haproxy/src/process/run-process.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { renderedFiles, sectionsOf } from './file-set.ts';

const folder = join(import.meta.dirname, 'messages');
const cases = (await readdir(folder)).toSorted();

const limits = { timeoutMs: 10_000, maxOutput: 100_000, signal: new AbortController().signal };

async function filesOf(name: string): Promise<Record<string, Buffer>> {
  const root = join(folder, name, 'files');
  const files: Record<string, Buffer> = {};
  for await (const entry of glob('**/*', { cwd: root, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files[relative(root, path)] = await readFile(path);
  }
  return files;
}

function describe({ severity, path, line, column, message }: ReportedFinding): string {
  const place = [path, line, column].filter((part) => part !== undefined).join(':');
  return `${severity} at ${place || 'no place'}: ${message}`;
}

/** What is HAProxy's and not the run's: no process ids, no path of the program. */
function normalise(stderr: string): string {
  return stderr.replaceAll(/\(\d+\) :/g, '(PID) :').replaceAll(/^\[NOTICE\].*\n/gm, '');
}

/**
 * Recorded from real binaries: what HAProxy printed, and what was made of it. `npx vitest run test/judge -u` records anew. With
 * another patch release than the recorded one only the findings' places must agree, not every word.
 */
forEachVersion(({ minor, binary }) => {
  test.each(cases)('%s', async (name) => {
    const files = await filesOf(name);
    const sections = sectionsOf(files['haproxy.cfg']?.toString() ?? '');
    const judge = new Judge({ binary, concurrency: 1, timeout: 10_000, maxOutput: 100_000 });
    onCleanup(() => judge.dispose());
    const rendered = renderedFiles(files, sections);
    const findings = await judge.judge(rendered, limits.signal);

    const root = join(folder, name, 'files');
    const { stderr } = await runProcess(binary, ['-c', '-dr', '-C', root, '-f', 'haproxy.cfg'], limits);
    const version = await judge.version();
    const record = [`HAProxy ${version}`, normalise(stderr), ...findings.map(describe), ''].join('\n');
    const path = join(folder, name, `${minor}.txt`);
    const recorded = await readFile(path, 'utf8').catch(() => '');
    if (recorded === '' || recorded.startsWith(`HAProxy ${version}\n`)) {
      await expect(record).toMatchFileSnapshot(path);
    } else {
      for (const finding of findings) expect(recorded).toContain(describe({ ...finding, message: '' }));
    }
  });
});

test('each case was recorded with each version, and none without its case', async () => {
  for (const name of cases) {
    expect((await readdir(join(folder, name))).toSorted()).toEqual([
      '3.0.txt',
      '3.2.txt',
      '3.4.txt',
      'files',
    ]);
  }
});

/** Independent of what is installed here: the recordings give the same findings again. */
test.each(cases.flatMap((name) => ['3.0', '3.2', '3.4'].map((minor) => ({ name, minor }))))(
  'the recording of $name with $minor is read as it was',
  async ({ name, minor }) => {
    const files = await filesOf(name);
    const [head = '', ...findings] = (await readFile(join(folder, name, `${minor}.txt`), 'utf8')).split(
      /^(?=(?:error|warning) at )/m,
    );
    const stderr = head.slice(head.indexOf('\n') + 1).replaceAll('(PID)', '(1)');
    const verdict = findings.some((line) => line.startsWith('error')) ? 'refused' : 'passed';
    const sections = sectionsOf(files['haproxy.cfg']?.toString() ?? '');
    const read = findingsOf(
      stderr,
      name === 'no-listener' ? 'passed' : verdict,
      renderedFiles(files, sections),
    );
    expect(findings.join('')).toContain(read.map(describe).join('\n'));
  },
);
