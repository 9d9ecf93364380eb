import { describe, expect, it } from 'vitest';
import { ContentMissing } from '../contract/contents.ts';
import { Cancelled, Refused } from '../contract/errors.ts';
import type { ReportedFinding } from '../contract/finding.ts';
import { systemClock } from '../host/index.ts';
import { failureOf, mergeTested, runTests, service, type TestSetup } from '../testing/validation-test-rig.ts';
import { refuseFailures } from './refuse-failures.ts';
import { runValidationTests } from './run-validation-tests.ts';

describe('judges', () => {
  const error: ReportedFinding = {
    severity: 'error',
    message: 'unknown keyword',
    path: 'haproxy.cfg',
    line: 3,
  };
  const warning: ReportedFinding = { severity: 'warning', message: 'deprecated' };

  it('of HAProxy are asked where a test claims something about them', async () => {
    const plain = { type: 'contains', target: 'haproxy.cfg', pattern: 'global' };
    const asked: string[] = [];
    expect(await failureOf(plain, {}, { asked, findings: { haproxy: [error] } })).toBeUndefined();
    expect(asked.splice(0)).toEqual(['custom']);
    const findings = { haproxy: [error, warning] };
    expect(await failureOf({ type: 'haproxy_valid' }, {}, { asked, findings })).toEqual(
      expect.stringMatching(/^it was refused\nhaproxy-judge: haproxy\.cfg:3: unknown keyword\n  \d+ \| .*$/),
    );
    expect(asked).toEqual(['haproxy', 'custom']);
  });

  it('of HAProxy that refuse the files say so once: no requests are tried with them', async () => {
    const request = { type: 'routes', request: { path: '/' }, expect: { status: 200 } };
    const report = await runTests({
      tests: { t: { assertions: [{ type: 'haproxy_valid' }, request, request] } },
      findings: { haproxy: [error] },
    });
    expect(report.tests[0]!.assertions.slice(1)).toMatchObject([
      { failure: 'HAProxy refuses the files, so nobody answers' },
      { failure: 'HAProxy refuses the files, so nobody answers' },
    ]);
  });

  it('let warnings pass', async () => {
    expect(
      await failureOf({ type: 'haproxy_valid' }, {}, { findings: { haproxy: [warning], custom: [warning] } }),
    ).toBeUndefined();
  });

  it('of operators fail a test that claims nothing about them', async () => {
    const plain = { type: 'contains', target: 'haproxy.cfg', pattern: 'global' };
    const report = await runTests({ tests: { t: { assertions: [plain] } }, findings: { custom: [error] } });
    expect(report.tests[0]).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(
        /^it was refused\ncustom-judge: haproxy\.cfg:3: unknown keyword\n  3 \| /,
      ),
      assertions: [{ type: 'contains', target: 'haproxy.cfg' }],
    });
  });
});

describe('a run', () => {
  const names = { type: 'equals', target: 'map:names', expected: '' };
  const contains = (pattern: string) => ({ type: 'contains', target: 'haproxy.cfg', pattern });

  it('counts, in order of names, and says whose tests they are', async () => {
    const report = await runTests({
      tests: {
        z: { assertions: [contains('global')] },
        a: { assertions: [contains('zzz'), contains('global')] },
      },
    });
    expect(report).toMatchObject({ passed: 1, failed: 1, skipped: 0 });
    expect(report.tests.map(({ name, source, status }) => [name, source, status])).toEqual([
      ['a', 'main', 'failed'],
      ['z', 'main', 'passed'],
    ]);
  });

  it('gives every test what all share, its own objects and settings on top', async () => {
    const report = await runTests({
      tests: {
        _global: { fixtures: { services: [service('shared'), service('web')] }, settings: { maxconn: 20 } },
        shared: {
          assertions: [
            { ...names, expected: 'shared x\nweb x\n' },
            contains('weight 1'),
            contains('maxconn 20'),
          ],
        },
        own: {
          fixtures: { services: [service('web', { spec: { weight: 9 } }), service('own')] },
          settings: { maxconn: 30 },
          assertions: [
            { ...names, expected: 'own x\nshared x\nweb x\n' },
            contains('web weight 9'),
            contains('maxconn 30'),
          ],
        },
      },
    });
    expect(report.tests.flatMap(({ assertions }) => assertions.map(({ failure }) => failure))).toEqual(
      Array(6).fill(undefined),
    );
  });

  it('skips tests for a newer HAProxy, and says so', async () => {
    const tests = {
      new: { minHAProxyVersion: '3.4', assertions: [contains('zzz')] },
      old: { minHAProxyVersion: '3.2', assertions: [contains('global')] },
    };
    const report = await runTests({ tests, version: '3.2.9' });
    expect(report).toMatchObject({ passed: 1, failed: 0, skipped: 1 });
    expect(report.tests[0]).toMatchObject({ status: 'skipped', reason: 'needs HAProxy 3.4, this is 3.2.9' });
  });

  it('skips tests of libraries that the configuration leaves out, and says so', async () => {
    const report = await runTests({
      tests: { own: { assertions: [contains('global')] } },
      libraryTests: { a: { assertions: [contains('zzz')] }, b: { assertions: [contains('zzz')] } },
      spec: { controller: { skipTests: ['a'] } },
    });
    expect(report.tests.map(({ name, source, status }) => `${status} ${name} (${source})`)).toEqual([
      'skipped a (base)',
      'failed b (base)',
      'passed own (main)',
    ]);
    expect(report.tests[0]!.reason).toBe('the configuration leaves it out (controller.skipTests)');
  });

  it('leaves out tests whose requirements are not served', async () => {
    const tests = {
      pods: { requires: ['pods'], assertions: [contains('zzz')] },
      t: { assertions: [contains('global')] },
    };
    const report = await runTests({ tests, served: ({ watch }) => watch !== 'pods' });
    expect(report.tests.map(({ name }) => name)).toEqual(['t']);
  });

  it('runs only what it is asked for, and knows nothing else', async () => {
    const tests = { alpha: { assertions: [contains('global')] }, beta: { assertions: [contains('zzz')] } };
    expect((await runTests({ tests, only: ['alpha'] })).tests).toHaveLength(1);
    await expect(runTests({ tests, only: ['alpa', 'beta'] })).rejects.toThrow(
      new Refused('no test "alpa", did you mean "alpha"?'),
    );
  });

  it('fails a test that could not be judged, and goes on', async () => {
    const report = await runValidationTests({
      config: mergeTested({
        tests: { a: { assertions: [contains('x')] }, b: { assertions: [contains('x')] } },
      }),
      render: ({ prepared }) => Promise.reject(new Error(`${prepared.name} is on fire`)),
      judge: () => Promise.resolve({ kind: 'passed', findings: [] }),
      signal: new AbortController().signal,
      clock: systemClock,
    });
    expect(report.tests.map(({ status, reason }) => [status, reason])).toEqual([
      ['failed', 'a is on fire'],
      ['failed', 'b is on fire'],
    ]);
  });

  it('that is called off gives no answer', async () => {
    const stop = new AbortController();
    stop.abort();
    const tests = { t: { assertions: [contains('global')] } };
    await expect(runTests({ tests, signal: stop.signal })).rejects.toThrow(Cancelled);
  });

  it('refuses a configuration whose tests fail, with everything that failed', async () => {
    const good = await runTests({ tests: { t: { assertions: [contains('global')] } } });
    expect(() => refuseFailures(good)).not.toThrow();
    const tests = {
      t: { assertions: [contains('global'), { ...contains('zzz'), description: 'has zzz' }] },
      u: { assertions: [{ type: 'rendering_error' }] },
    };
    const bad = await runTests({ tests });
    expect(() => refuseFailures(bad)).toThrow(
      new Refused([
        {
          where: 'validation test "t" (main), assertion 2 (contains haproxy.cfg)',
          message: 'has zzz: no match of /zzz/ in haproxy.cfg',
        },
        {
          where: 'validation test "u" (main), assertion 1 (rendering_error)',
          message: 'it rendered without an error',
        },
      ]),
    );
  });

  it('judges nothing about HAProxy where there is none, and passes no gate with it', async () => {
    const assertions = [
      contains('global'),
      { type: 'haproxy_valid' },
      { type: 'routes', request: { host: 'a.test', path: '/x' }, expect: { status: 200 } },
    ];
    const asked: string[] = [];
    const report = await runTests({
      tests: { t: { assertions }, u: { assertions: [contains('global')] } },
      judge: undefined,
      asked,
    });
    expect(asked).toEqual(['custom', 'custom']);
    expect(report).toMatchObject({ passed: 1, failed: 0, skipped: 0, unjudged: 1 });
    expect(report.tests[0]!.assertions.map(({ unjudged }) => unjudged)).toEqual([
      undefined,
      'there is no HAProxy here',
      'there is no HAProxy here',
    ]);
    expect(() => refuseFailures(report)).toThrow(
      new Refused([
        {
          where: 'validation test "t" (main), assertion 2 (haproxy_valid) and 1 more',
          message: 'there is no HAProxy here',
        },
      ]),
    );
  });

  it('asks no HAProxy for requests where the judge cannot start any', async () => {
    const request = { path: '/' };
    const tests = { t: { assertions: [{ type: 'routes', request, expect: { status: 200 } }] } };
    const report = await runTests({ tests });
    expect(report.tests[0]).toMatchObject({
      status: 'unjudged',
      assertions: [{ unjudged: 'the judge of HAProxy configurations cannot start HAProxy' }],
    });
  });

  it('tells every result and every render as it comes', async () => {
    const tests = { a: { assertions: [contains('global')] }, b: { assertions: [contains('global')] } };
    const seen: string[] = [];
    await runTests({
      tests,
      observer: {
        rendered: (name, { files }) => void seen.push(`${name} has ${files.entries.length} files`),
        finished: ({ name, status }, { done, all }) => void seen.push(`${name} ${status} ${done}/${all}`),
      },
    });
    expect(seen.toSorted()).toEqual([
      'a has 2 files',
      expect.stringMatching(/^a passed \d\/2$/),
      'b has 2 files',
      expect.stringMatching(/^b passed \d\/2$/),
    ]);
  });

  it('says one mistake that fails many assertions once', async () => {
    const assertions = [contains('one'), { ...contains('two'), description: 'has two' }];
    const tests = { t: { assertions }, u: { assertions } };
    const failure = 'rendering failed: global:6:21: there is no such thing';
    const report = await runTests({ tests });
    const broken = report.tests.map((result) => ({
      ...result,
      status: 'failed' as const,
      assertions: result.assertions.map((assertion) => ({ ...assertion, failure })),
    }));
    expect(() => refuseFailures({ ...report, tests: broken })).toThrow(
      new Refused([
        {
          where: 'validation test "t" (main), assertion 1 (contains haproxy.cfg) and 3 more',
          message: failure,
        },
      ]),
    );
  });
});

describe('contents', () => {
  const names: TestSetup['names'] = (names) =>
    names.global({
      name: 'outside',
      doc: '',
      members: [{ name: 'must', doc: '' }],
      build: ({ contents }) => ({
        must(key: string) {
          const text = contents.read(key, {});
          if (text === undefined) throw new ContentMissing(`no content of ${key} yet`);
          return text;
        },
      }),
    });
  const template =
    '{% section "global" %}\nglobal\n  # {{ outside.must("https://a/list") | word }}\n{% endsection %}\n';

  it('that templates cannot do without are brought by tests, and one that brings none hears so', async () => {
    const contains = [{ type: 'contains', target: 'haproxy.cfg', pattern: '# text' }];
    const { tests } = await runTests({
      names,
      spec: { haproxyConfig: { template } },
      tests: {
        bare: { assertions: contains },
        brought: { httpResources: [{ url: 'https://a/list', content: 'text' }], assertions: contains },
      },
    });
    expect(tests.map(({ name, status }) => [name, status])).toEqual([
      ['bare', 'failed'],
      ['brought', 'passed'],
    ]);
    expect(tests[0]!.reason).toMatch(
      /no content of https:\/\/a\/list yet[\s\S]*give it .* under "httpResources"/,
    );
  });
});
