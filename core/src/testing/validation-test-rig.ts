import { z } from 'zod';
import { mergeSources, type Served } from '../config/index.ts';
import type { MergedConfig } from '../contract/config.ts';
import type { ReportedFinding } from '../contract/finding.ts';
import type { Hooks } from '../contract/hooks.ts';
import { definePlugin } from '../contract/plugin.ts';
import type { JudgeBinary, TemplateNames } from '../contract/services.ts';
import { sha256 } from '../controller/sha256.ts';
import { controllerRules, createHooks, Host, systemClock, type EnabledPlugin } from '../host/index.ts';
import { Pipeline } from '../pipeline/index.ts';
import { Renderer } from '../render/renderer.ts';
import { compileConfig, createNames } from '../templates/index.ts';
import { testConfig, type TestObserver, type TestReport } from '../validation-tests/index.ts';
import { memoryLog } from './memory-log.ts';

export const service = (name: string, rest: object = {}) => ({
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

export interface TestSetup {
  readonly tests: object;
  readonly served?: Served;
  readonly version?: string;
  readonly only?: readonly string[];
  readonly findings?: Partial<Record<'haproxy' | 'custom', readonly ReportedFinding[]>>;
  readonly signal?: AbortSignal;
  /** Laid over the configuration. */
  readonly spec?: object;
  /** Of a library below it. */
  readonly libraryTests?: object;
  /** Undefined: there is none. Without this member there is one that nobody can start. */
  readonly judge?: JudgeBinary | undefined;
  readonly observer?: TestObserver;
  /** Adds to what templates may call. */
  readonly names?: (names: TemplateNames) => void;
  /** Receives the kinds of judges that were asked. */
  readonly asked?: string[];
}

function judge(kind: 'haproxy' | 'custom', { findings = {}, asked = [] }: TestSetup): EnabledPlugin<Hooks> {
  const plugin = definePlugin({
    name: `${kind}-judge`,
    apiVersion: 1,
    options: z.strictObject({}),
    judge: kind,
    setup({ name, hooks }) {
      hooks.validate.tapPromise(name, (_, collector) => {
        asked.push(kind);
        for (const finding of findings[kind] ?? []) collector.add(finding);
        return Promise.resolve();
      });
    },
  });
  return { plugin, options: {} };
}

export function mergeTested(setup: TestSetup): MergedConfig {
  const spec = {
    haproxyConfig: { template },
    maps: { names: { match: 'str' } },
    settings: { maxconn: 10 },
    watchedResources: {
      services: { apiVersion: 'v1', resources: 'services' },
      pods: { apiVersion: 'v1', resources: 'pods', optional: true },
    },
    validationTests: setup.tests,
    ...setup.spec,
  };
  const library = { kind: 'library', name: 'base', spec: { validationTests: setup.libraryTests } } as const;
  const sources = [
    ...(setup.libraryTests === undefined ? [] : [library]),
    { kind: 'config', name: 'main', spec } as const,
  ];
  return mergeSources({ sources }, [], sha256);
}

/** Runs the tests of a small configuration on real parts, but for the judges. */
export async function runTests(setup: TestSetup): Promise<TestReport> {
  const { served = () => true, version = '3.4.1', only, observer } = setup;
  const names = createNames(sha256);
  setup.names?.(names);
  const renderer = new Renderer((config) => compileConfig(config, names), sha256, systemClock);
  const hooks = createHooks();
  hooks.render.tapPromise('core', (input, context) => renderer.render(input, context));
  const plugins = [judge('haproxy', setup), judge('custom', setup)];
  const host = await Host.start({ ...controllerRules, check: () => {}, hooks, plugins, log: memoryLog() });
  try {
    const merged = mergeTested(setup);
    const pipeline = new Pipeline({ hooks, merge: () => merged, renderer, hash: sha256, clock: systemClock });
    const fleet = {
      haproxyVersion: version,
      paths: { base: '/etc/haproxy', workerSocket: '/run/haproxy.sock' },
    };
    const own = {
      judge: 'judge' in setup ? setup.judge : { version: () => Promise.resolve(version) },
      ...(only && { only }),
      ...(observer && { observer }),
    };
    const under = { pipeline, hooks, clock: systemClock, merged, served, fleet, ...own };
    return await testConfig(under, {
      signal: setup.signal ?? new AbortController().signal,
      caller: 'validate',
    });
  } finally {
    await host.close();
  }
}

/** Why an assertion about two services fails; undefined: it holds. */
export async function failureOf(
  assertion: object,
  rest: object = {},
  setup: Partial<TestSetup> = {},
): Promise<string | undefined> {
  const fixtures = { services: [service('web', { spec: { weight: 7 } }), service('api')] };
  const report = await runTests({ ...setup, tests: { t: { fixtures, assertions: [assertion], ...rest } } });
  return report.tests[0]!.assertions[0]!.failure;
}
