import { Retry } from '@haptic/core/contract';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../haproxy/temp-dir.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { validConfig } from './config.ts';
import { renderedFiles } from './file-set.ts';
import { script, startJudge } from './start-judge.ts';

const valid = renderedFiles({ 'haproxy.cfg': validConfig() });
const never = new AbortController().signal;

forEachVersion(({ binary, minor }) => {
  test('a valid configuration has no findings', async () => {
    const { judge } = await startJudge(binary);
    expect(await judge.judge(valid, never)).toEqual([]);
    expect(await judge.version()).toMatch(new RegExp(`^${minor.replace('.', '\\.')}\\.`));
  });

  test('it is called with these arguments and nothing of our environment', async () => {
    const record = join(await tempDir(), 'record');
    process.env['HAPTIC_TEST_TOKEN'] = 'secret';
    const wrapper = await script(`printf '%s\\n' "$@" >${record}; env >>${record}; exec ${binary} "$@"`);
    const { judge, temp } = await startJudge(wrapper);
    expect(await judge.judge(valid, never)).toEqual([]);
    delete process.env['HAPTIC_TEST_TOKEN'];
    const lines = (await readFile(record, 'utf8')).trim().split('\n');
    const [check, unresolved, chdir, tree = '', file, main, ...environment] = lines;
    expect([check, unresolved, chdir, file, main]).toEqual(['-c', '-dr', '-C', '-f', 'haproxy.cfg']);
    expect(tree.startsWith(`${temp}/`)).toBe(true);
    // PWD, _ and the like are the shell's own.
    const names = environment
      .map((line) => line.replace(/=.*/, ''))
      .filter((name) => !/^(PWD|OLDPWD|SHLVL|_)$/.test(name));
    expect(names.toSorted()).toEqual(['LC_ALL', 'TZ']);
  });

  test("a name that cannot be resolved is not the judge's business", async () => {
    const config = `${validConfig()}backend out from base\n  server a name.invalid:80\n`;
    const { judge } = await startJudge(binary);
    expect(await judge.judge(renderedFiles({ 'haproxy.cfg': config }), never)).toEqual([]);
  });

  test('more words than are kept: whole messages, and a refusal all the same', async () => {
    const frontend = Array.from({ length: 500 }, (_, index) => `  bogus${index}`).join('\n');
    const { judge } = await startJudge(binary, { maxOutput: 2048 });
    const findings = await judge.judge(renderedFiles({ 'haproxy.cfg': validConfig({ frontend }) }), never);
    expect(findings.length).toBeGreaterThan(5);
    expect(findings.length).toBeLessThan(40);
    expect(findings.every(({ severity }) => severity === 'error')).toBe(true);
    expect(findings.at(-1)?.message).toContain('cut: more than 2048 bytes');
  });
});

test.each([
  ['exit 0', []],
  ['echo oops >&2; exit 1', ['HAProxy refused the configuration saying:\noops']],
  ['exit 1', ['HAProxy refused the configuration without a word']],
  ['exit 2', [expect.stringContaining('nothing to listen on')]],
  ['kill -SEGV $$', ['HAProxy crashed (SIGSEGV) on this configuration']],
])('%j is a verdict', async (text, messages) => {
  const { judge } = await startJudge(await script(text));
  const findings = await judge.judge(valid, never);
  expect(findings.map(({ message }) => message)).toEqual(messages);
  expect(findings.every(({ severity }) => severity === 'error')).toBe(true);
});

test.each([
  ['echo cannot open shared object >&2; exit 127', 'exit code 127, last words: cannot open shared object'],
  ['kill -KILL $$', 'ended by SIGKILL'],
  ['kill -TERM $$', 'ended by SIGTERM'],
])('%j is no verdict', async (text, words) => {
  const { judge } = await startJudge(await script(text));
  const answer = judge.judge(valid, never);
  await expect(answer).rejects.toBeInstanceOf(Retry);
  await expect(answer).rejects.toThrow(words);
});

test('a program that went away is no verdict', async () => {
  const { judge } = await startJudge('/nonexistent/haproxy');
  await expect(judge.judge(valid, never)).rejects.toThrow(/cannot run \/nonexistent\/haproxy: .*ENOENT/);
});

test('what leaves the process group cannot hold the answer back', async () => {
  const { judge } = await startJudge(await script('setsid sleep 4 & exit 0'));
  const start = performance.now();
  expect(await judge.judge(valid, never)).toEqual([]);
  expect(performance.now() - start).toBeLessThan(3500);
});
