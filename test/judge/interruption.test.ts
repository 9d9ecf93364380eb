import { Cancelled, Retry } from '@haptic/core/contract';
import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { noProcesses, processesIn } from '../haproxy/processes.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { endless, validConfig } from './config.ts';
import { renderedFiles } from './file-set.ts';
import { startJudge, starters } from './start-judge.ts';

const loop = renderedFiles(endless);
const valid = renderedFiles({ 'haproxy.cfg': validConfig() });
const never = new AbortController().signal;

forEachVersion(({ binary }) => {
  describe.each(starters)('started by %s', (_, largeBytes) => {
    test('a check that never ends is killed, and is no verdict', async () => {
      const { judge, temp } = await startJudge(binary, { largeBytes, timeout: 500 });
      const answer = judge.judge(loop, never);
      await expect(answer).rejects.toBeInstanceOf(Retry);
      await expect(answer).rejects.toThrow('still running after 500 ms');
      await noProcesses(temp);
      expect(await judge.judge(valid, never)).toEqual([]);
    });

    test('an abort kills the check', async () => {
      const { judge, temp } = await startJudge(binary, { largeBytes });
      const controller = new AbortController();
      const answer = judge.judge(loop, controller.signal);
      await until(async () => (await processesIn(temp)).length === 1);
      controller.abort();
      await expect(answer).rejects.toBeInstanceOf(Cancelled);
      await noProcesses(temp);
    });

    test('never more checks at once than asked for; who waits can leave the queue', async () => {
      const { judge, temp } = await startJudge(binary, { largeBytes, concurrency: 2 });
      const running = new AbortController();
      const first = [judge.judge(loop, running.signal), judge.judge(loop, running.signal)];
      await until(async () => (await processesIn(temp)).length === 2);
      const leaving = new AbortController();
      const waiting = judge.judge(valid, leaving.signal);
      const staying = judge.judge(valid, never);
      leaving.abort();
      await expect(waiting).rejects.toBeInstanceOf(Cancelled);
      expect((await processesIn(temp)).length).toBe(2);
      running.abort();
      for (const answer of first) await expect(answer).rejects.toBeInstanceOf(Cancelled);
      expect(await staying).toEqual([]);
    });

    test('one that nobody waits for never takes the place of one that somebody does', async () => {
      const { judge, temp } = await startJudge(binary, { largeBytes, concurrency: 1 });
      const running = new AbortController();
      const inBackground = [judge.judge(loop, running.signal, true), judge.judge(loop, running.signal, true)];
      await until(async () => (await processesIn(temp)).length === 1);
      for (let times = 0; times < 5; times++) expect(await judge.judge(valid, never)).toEqual([]);
      expect((await processesIn(temp)).length).toBe(1);
      running.abort();
      for (const answer of inBackground) await expect(answer).rejects.toBeInstanceOf(Cancelled);
    });

    test('disposing ends checks and leaves no file', async () => {
      const { judge, temp } = await startJudge(binary, { largeBytes });
      const answer = judge.judge(loop, never);
      answer.catch(() => undefined);
      await until(async () => (await processesIn(temp)).length === 1);
      await judge.dispose();
      await expect(answer).rejects.toBeInstanceOf(Cancelled);
      await noProcesses(temp);
      expect(await readdir(temp)).toEqual([]);
      await expect(judge.judge(valid, never)).rejects.toBeInstanceOf(Cancelled);
      expect(await readdir(temp)).toEqual([]);
    });
  });
});

test('an answer that is not wanted any more is not begun', async () => {
  const { judge, temp } = await startJudge('/bin/true');
  await expect(judge.judge(valid, AbortSignal.abort())).rejects.toBeInstanceOf(Cancelled);
  expect(await readdir(temp)).toEqual([]);
});
