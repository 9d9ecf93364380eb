import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mergeSources, type Served } from '../config/index.ts';
import type { MergedConfig } from '../contract/config.ts';
import { Cancelled, Refused } from '../contract/errors.ts';
import type { ReportedFinding } from '../contract/finding.ts';
import type { Hooks } from '../contract/hooks.ts';
import { definePlugin } from '../contract/plugin.ts';
import { sha256 } from '../controller/sha256.ts';
import { controllerRules, createHooks, Host, systemClock, type EnabledPlugin } from '../host/index.ts';
import { Pipeline } from '../pipeline/index.ts';
import { Renderer } from '../render/renderer.ts';
import { fixtureView } from '../store/index.ts';
import { compileConfig, createNames } from '../templates/index.ts';
import { memoryLog } from '../testing/index.ts';
import type { TestReport } from './outcome.ts';
import { refuseFailures } from './refuse-failures.ts';
import { runValidationTests } from './run-validation-tests.ts';
import { testConfig } from './test-config.ts';

const service = (name: string, rest: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'shop', name },
  ...rest,
});

/** Renders one section with a line a service, a map entry for each, and fails for a service called `broken`. */
const template = `{% section "global" %}
global
  maxconn {{ settings.maxconn }}
{% for s in resources.services.list() %}
{% if s.metadata.name === "broken" %}{% do fail("broken service") %}{% endif %}
  # service {{ s.metadata.name | word }} weight {{ s.spec?.weight ?? 1 }}
{% entry "names", s.metadata.name, "x" %}
{% endfor %}
{% endsection %}
`;

interface Setup {
  readonly tests: object;
  readonly served?: Served;
  readonly version?: string;
  readonly only?: readonly string[];
  readonly findings?: Partial<Record<'haproxy' | 'custom', readonly ReportedFinding[]>>;
  readonly signal?: AbortSignal;
}

/** Kinds of judges that were asked. */
let asked: string[];

function judge(kind: 'haproxy' | 'custom', findings: readonly ReportedFinding[]): EnabledPlugin<Hooks> {
  const plugin = definePlugin({
    name: `${kind}-judge`,
    apiVersion: 1,
    options: z.strictObject({}),
    judge: kind,
    setup({ name, hooks }) {
      hooks.validate.tapPromise(name, (_, collector) => {
        asked.push(kind);
        for (const finding of findings) collector.add(finding);
        return Promise.resolve();
      });
    },
  });
  return { plugin, options: {} };
}

function merge(setup: Setup): MergedConfig {
  const spec = {
    haproxyConfig: { template },
    maps: { names: { match: 'str' } },
    settings: { maxconn: 10 },
    watchedResources: {
      services: { apiVersion: 'v1', resources: 'services' },
      pods: { apiVersion: 'v1', resources: 'pods', optional: true },
    },
    validationTests: setup.tests,
  };
  return mergeSources({ sources: [{ kind: 'config', name: 'main', spec }] }, [], sha256);
}

async function run(setup: Setup): Promise<TestReport> {
  const { served = () => true, version = '3.4.1', only, findings = {} } = setup;
  asked = [];
  const names = createNames(sha256);
  const renderer = new Renderer((config) => compileConfig(config, names), sha256, systemClock);
  const hooks = createHooks();
  hooks.render.tapPromise('core', (input, context) => renderer.render(input, context));
  const plugins = [judge('haproxy', findings.haproxy ?? []), judge('custom', findings.custom ?? [])];
  const host = await Host.start({ ...controllerRules, check: () => {}, hooks, plugins, log: memoryLog() });
  try {
    const merged = merge(setup);
    const pipeline = new Pipeline({ hooks, merge: () => merged, renderer, hash: sha256, clock: systemClock });
    const fleet = {
      haproxyVersion: version,
      paths: { base: '/etc/haproxy', workerSocket: '/run/haproxy.sock' },
    };
    const under = { pipeline, hooks, clock: systemClock, merged, served, fleet, ...(only && { only }) };
    return await testConfig(under, {
      signal: setup.signal ?? new AbortController().signal,
      caller: 'validate',
    });
  } finally {
    await host.close();
  }
}

async function failureOf(
  assertion: object,
  rest: object = {},
  setup: Partial<Setup> = {},
): Promise<string | undefined> {
  const fixtures = { services: [service('web', { spec: { weight: 7 } }), service('api')] };
  const report = await run({ ...setup, tests: { t: { fixtures, assertions: [assertion], ...rest } } });
  return report.tests[0]!.assertions[0]!.failure;
}

const broken = { fixtures: { services: [service('broken')] } };

describe('an assertion', () => {
  it.each([
    [{ type: 'contains', target: 'haproxy.cfg', pattern: '^  # service web weight 7$' }],
    [{ type: 'contains', target: 'map:names', pattern: '^web x$' }],
    [{ type: 'contains', target: 'plan', pattern: '"path": "maps/names.map"' }],
    [{ type: 'not_contains', target: 'haproxy.cfg', pattern: 'weight 8' }],
    [{ type: 'not_contains', target: 'events', pattern: '.' }],
    [{ type: 'equals', target: 'map:names', expected: 'api x\nweb x\n' }],
    [{ type: 'match_count', target: 'haproxy.cfg', pattern: '# service', expected: 2 }],
    [{ type: 'match_count', target: 'haproxy.cfg', pattern: 'nowhere', expected: 0 }],
    [{ type: 'haproxy_valid' }],
  ])('holds: %j', async (assertion) => {
    expect(await failureOf(assertion)).toBeUndefined();
  });

  it.each([
    [{ type: 'rendering_error' }],
    [{ type: 'rendering_error', pattern: 'broken service' }],
    [{ type: 'contains', target: 'rendering_error', pattern: 'haproxyConfig:\\d+:\\d+: ' }],
    [{ type: 'not_contains', target: 'rendering_error', pattern: 'other' }],
  ])('holds of a render that fails: %j', async (assertion) => {
    expect(await failureOf(assertion, broken)).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it.each([
    [
      { type: 'contains', target: 'haproxy.cfg', pattern: 'service web weight 8' },
      'no match of /service web weight 8/ in haproxy.cfg\nsimilar lines:\n  N |   # service web weight 7\n  N |   # service api weight 1',
    ],
    [{ type: 'contains', target: 'map:names', pattern: 'zzz' }, 'no match of /zzz/ in map:names'],
    [
      { type: 'not_contains', target: 'haproxy.cfg', pattern: '# service' },
      'a match of /# service/ in haproxy.cfg\n  N |   # service api weight 1\n  N |   # service web weight 7',
    ],
    [
      { type: 'equals', target: 'map:names', expected: 'api x\nweb y\n' },
      'map:names is another text\nexpected:\n  N | web y\nactual:\n  N | web x',
    ],
    [
      { type: 'equals', target: 'map:names', expected: 'api x\nweb x' },
      'map:names is another text\nexpected:\n  (ends before)\nactual:\n  N | ',
    ],
    [
      { type: 'match_count', target: 'map:names', pattern: 'x$', expected: 3 },
      '2 matches of /x$/ in map:names, expected 3\n  N | api x\n  N | web x',
    ],
    [{ type: 'match_count', target: 'map:names', pattern: '', expected: 1 }, expect.stringContaining('more')],
    [
      { type: 'equals', target: 'map:name', expected: '' },
      'no file maps/name.map was rendered, did you mean "maps/names.map"?',
    ],
    [{ type: 'equals', target: 'file:x', expected: '' }, 'no file files/x was rendered'],
    [{ type: 'rendering_error' }, 'it rendered without an error'],
    [{ type: 'contains', target: 'rendering_error', pattern: 'x' }, 'it rendered without an error'],
    [{ type: 'not_contains', target: 'rendering_error', pattern: 'x' }, 'it rendered without an error'],
  ])('fails: %j', async (assertion, expected) => {
    const failure = await failureOf(assertion);
    expect(failure?.replaceAll(/^ {2}\d+ \|/gm, '  N |')).toEqual(expected);
  });

  it.each([
    [{ type: 'contains', target: 'haproxy.cfg', pattern: 'x' }, /^rendering failed: .*broken service/],
    [{ type: 'not_contains', target: 'haproxy.cfg', pattern: 'x' }, /^rendering failed: .*broken service/],
    [{ type: 'haproxy_valid' }, /^rendering failed: .*broken service/],
    [
      { type: 'rendering_error', pattern: 'other words' },
      /^the error does not match \/other words\/:\n.*broken service/,
    ],
  ])('fails of a render that fails: %j', async (assertion, expected) => {
    expect(await failureOf(assertion, broken)).toMatch(expected);
  });

  it('takes no time that grows faster than the text', async () => {
    const fixtures = { services: [service('a'.repeat(60))] };
    expect(
      await failureOf({ type: 'contains', target: 'haproxy.cfg', pattern: '(a+)+(a+)+(a+)+b' }, { fixtures }),
    ).toMatch(/no match/);
  });
});

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
    expect(await failureOf(plain, {}, { findings: { haproxy: [error] } })).toBeUndefined();
    expect(asked).toEqual(['custom']);
    expect(await failureOf({ type: 'haproxy_valid' }, {}, { findings: { haproxy: [error, warning] } })).toBe(
      'it was refused\nhaproxy-judge: haproxy.cfg:3: unknown keyword',
    );
    expect(asked).toEqual(['haproxy', 'custom']);
  });

  it('let warnings pass', async () => {
    expect(
      await failureOf({ type: 'haproxy_valid' }, {}, { findings: { haproxy: [warning], custom: [warning] } }),
    ).toBeUndefined();
  });

  it('of operators fail a test that claims nothing about them', async () => {
    const plain = { type: 'contains', target: 'haproxy.cfg', pattern: 'global' };
    const report = await run({ tests: { t: { assertions: [plain] } }, findings: { custom: [error] } });
    expect(report.tests[0]).toMatchObject({
      status: 'failed',
      reason: 'it was refused\ncustom-judge: haproxy.cfg:3: unknown keyword',
      assertions: [{ type: 'contains', target: 'haproxy.cfg' }],
    });
  });
});

describe('a run', () => {
  const names = { type: 'equals', target: 'map:names', expected: '' };
  const contains = (pattern: string) => ({ type: 'contains', target: 'haproxy.cfg', pattern });

  it('counts, in order of names, and says whose tests they are', async () => {
    const report = await run({
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
    const report = await run({
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
    const report = await run({ tests, version: '3.2.9' });
    expect(report).toMatchObject({ passed: 1, failed: 0, skipped: 1 });
    expect(report.tests[0]).toMatchObject({ status: 'skipped', reason: 'needs HAProxy 3.4, this is 3.2.9' });
  });

  it('leaves out tests whose requirements are not served', async () => {
    const tests = {
      pods: { requires: ['pods'], assertions: [contains('zzz')] },
      t: { assertions: [contains('global')] },
    };
    const report = await run({ tests, served: ({ watch }) => watch !== 'pods' });
    expect(report.tests.map(({ name }) => name)).toEqual(['t']);
  });

  it('runs only what it is asked for, and knows nothing else', async () => {
    const tests = { alpha: { assertions: [contains('global')] }, beta: { assertions: [contains('zzz')] } };
    expect((await run({ tests, only: ['alpha'] })).tests).toHaveLength(1);
    await expect(run({ tests, only: ['alpa', 'beta'] })).rejects.toThrow(
      new Refused('no test "alpa", did you mean "alpha"?'),
    );
  });

  it('fails a test that could not be judged, and goes on', async () => {
    const report = await runValidationTests({
      config: merge({ tests: { a: { assertions: [contains('x')] }, b: { assertions: [contains('x')] } } }),
      viewOf: (fixtures) => fixtureView({}, fixtures),
      render: (_view, _settings, { name }) => Promise.reject(new Error(`${name} is on fire`)),
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
    await expect(run({ tests, signal: stop.signal })).rejects.toThrow(Cancelled);
  });

  it('refuses a configuration whose tests fail, with everything that failed', async () => {
    const good = await run({ tests: { t: { assertions: [contains('global')] } } });
    expect(() => refuseFailures(good)).not.toThrow();
    const tests = {
      t: { assertions: [contains('global'), { ...contains('zzz'), description: 'has zzz' }] },
      u: { assertions: [{ type: 'rendering_error' }] },
    };
    const bad = await run({ tests });
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

  it('says one mistake that fails many assertions once', async () => {
    const assertions = [contains('one'), { ...contains('two'), description: 'has two' }];
    const tests = { t: { assertions }, u: { assertions } };
    const failure = 'rendering failed: global:6:21: there is no such thing';
    const report = await run({ tests });
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
