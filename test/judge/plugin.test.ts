import { createHooks, Host, controllerRules } from '@haptic/core/host';
import { askJudge, memoryLog, pluginContract } from '@haptic/core/testing';
import { JUDGE_BINARY, type Candidate, type Provenance } from '@haptic/core/contract';
import { describe, expect, test } from 'vitest';
import validator from '../../plugins/validator-haproxy/src/index.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { endless, validConfig } from './config.ts';
import { renderedFiles } from './file-set.ts';
import { script } from './start-judge.ts';

/** No test here looks at what was rendered from. */
const nothing = {} as Pick<Candidate, 'config' | 'view' | 'fleet'>;

function candidate(files: Record<string, string>, provenance?: Provenance): Candidate {
  return { ...nothing, rendered: { ...renderedFiles(files), locate: () => provenance } };
}

const valid = candidate({ 'haproxy.cfg': validConfig() });

forEachVersion(({ binary, minor }) => {
  describe('the contract of plugins', () => {
    for (const check of pluginContract(validator, { options: { binary } }))
      test(check.name, () => check.run());
  });

  test('verdicts, as the pipeline gets them', async () => {
    expect(await askJudge(validator, valid, { options: { binary } })).toEqual({
      kind: 'passed',
      findings: [],
    });
    const provenance = { snippet: 'frontend', source: 'base', line: 3, objects: [] };
    const bogus = candidate({ 'haproxy.cfg': validConfig({ frontend: '  bogus' }) }, provenance);
    expect(await askJudge(validator, bogus, { options: { binary } })).toEqual({
      kind: 'refused',
      findings: [
        {
          judge: 'validator-haproxy',
          phase: 'haproxy',
          severity: 'error',
          message: "unknown keyword 'bogus' in 'frontend' section",
          path: 'haproxy.cfg',
          line: 10,
          provenance,
        },
      ],
    });
  });

  test('a check that never ends is interrupted, with the words', async () => {
    const options = { binary, timeout: 300 };
    const verdict = await askJudge(validator, candidate({ ...endless }), { options });
    expect(verdict).toMatchObject({
      kind: 'interrupted',
      reason: expect.stringContaining('still running after 300 ms'),
    });
  });

  test('the binary that judges says its version', async () => {
    await using host = await Host.start({
      ...controllerRules,
      check: () => undefined,
      hooks: createHooks(),
      plugins: [{ plugin: validator, options: { binary } }],
      log: memoryLog(),
    });
    expect(await host.use(JUDGE_BINARY).version()).toMatch(new RegExp(`^${minor.replace('.', '\\.')}\\.`));
  });
});

test('a missing binary, and one that is not HAProxy, are start errors with the mend', async () => {
  await expect(askJudge(validator, valid, { options: { binary: '/nonexistent/haproxy' } })).rejects.toThrow(
    /\/nonexistent\/haproxy is not an executable file.*name its program with .*this plugin's option 'binary'/,
  );
  const other = await script('echo nginx/1.2');
  await expect(askJudge(validator, valid, { options: { binary: other } })).rejects.toThrow(
    'does not answer -v as HAProxy does: nginx/1.2',
  );
});
