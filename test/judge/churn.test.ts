import { Cancelled, Retry, type ReportedFinding } from '@haptic/core/contract';
import * as fc from 'fast-check';
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { noProcesses } from '../haproxy/processes.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { endless, validConfig } from './config.ts';
import { renderedFiles } from './file-set.ts';
import { startJudge } from './start-judge.ts';

const map = { 'maps/a.map': '/ 1\n' };
const frontend = '  http-request set-var(txn.a) path,map_str_int(maps/a.map)';
const sets = {
  valid: renderedFiles({ ...map, 'haproxy.cfg': validConfig({ frontend }) }),
  invalid: renderedFiles({ 'maps/a.map': '/ x\n', 'haproxy.cfg': validConfig({ frontend }) }),
  endless: renderedFiles({ ...map, ...endless }),
};

type Answer = 'passed' | 'refused' | 'cancelled' | 'interrupted';

async function answerOf(check: Promise<readonly ReportedFinding[]>): Promise<Answer> {
  try {
    return (await check).some(({ severity }) => severity === 'error') ? 'refused' : 'passed';
  } catch (error) {
    if (error instanceof Cancelled) return 'cancelled';
    if (error instanceof Retry) return 'interrupted';
    throw error;
  }
}

const asked = fc.record({
  kind: fc.constantFrom('valid' as const, 'invalid' as const, 'endless' as const),
  abortAfterMs: fc.option(fc.integer({ min: 0, max: 150 }), { nil: undefined }),
});

const numRuns = process.env['HAPTIC_SOAK'] === '1' ? 100 : 3;

/** There is one right verdict; on a busy machine, or with an abort, there may be none, but never another one. */
const right = { valid: 'passed', invalid: 'refused', endless: 'interrupted' } as const;

forEachVersion(({ binary }) => {
  test('many checks at once, some called off: none gets a wrong verdict, and nothing is left', async () => {
    const { judge, temp } = await startJudge(binary, { concurrency: 3, timeout: 400 });
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 12 }), async (checks) => {
        const answers = checks.map(async ({ kind, abortAfterMs }) => {
          const controller = new AbortController();
          const answer = answerOf(judge.judge(sets[kind], controller.signal));
          if (abortAfterMs !== undefined) await sleep(abortAfterMs).then(() => controller.abort());
          const none: Answer = abortAfterMs === undefined ? 'interrupted' : 'cancelled';
          expect([right[kind], 'interrupted', none], kind).toContain(await answer);
        });
        await Promise.all(answers);
        await noProcesses(temp);
      }),
      { numRuns },
    );
    await judge.dispose();
    expect(await readdir(temp)).toEqual([]);
  });
});
