import { describe, expect, it } from 'vitest';
import {
  developmentDependencies,
  modules,
  packageOf,
  packages,
  readJson,
  target,
  type Module,
} from './architecture/modules.ts';

/** The imports between packages that are allowed; everything else is a plugin, and one of those knows the contract only. */
const edges: Readonly<Record<string, readonly string[]>> = {
  core: [],
  kube: ['@haptic/core/contract'],
  prometheus: ['@haptic/core/contract'],
  agent: ['@haptic/core/host', '@haptic/core/contract', '@haptic/core/tls', '@haptic/prometheus'],
  'plugins/metrics': ['@haptic/core/contract', '@haptic/prometheus'],
  'plugins/deploy-agent': ['@haptic/core/contract', '@haptic/core/tls', '@haptic/agent/protocol'],
  'plugins/ingress': ['@haptic/core/contract', '@haptic/routing'],
  'plugins/kube-connection': ['@haptic/core/contract', '@haptic/kube'],
  'plugins/source-crd': ['@haptic/core/contract', '@haptic/kube'],
  'plugins/leader': ['@haptic/core/contract', '@haptic/kube'],
  'plugins/pod-discovery': ['@haptic/core/contract', '@haptic/kube'],
  'plugins/state-kube': ['@haptic/core/contract', '@haptic/kube'],
  'plugins/publish': ['@haptic/core/contract', '@haptic/kube'],
  'plugins/admission': ['@haptic/core/contract', '@haptic/core/tls'],
};
const PLUGIN_EDGES = ['@haptic/core/contract'];

/** The folders of the core: what each may import of the others. */
const layers: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  values: [],
  config: ['contract', 'values'],
  templates: ['contract', 'config'],
  plan: ['contract', 'values', 'config', 'templates'],
  store: ['contract', 'values', 'config'],
  host: ['contract', 'config'],
  tls: ['contract'],
  render: ['contract', 'config', 'templates', 'plan'],
  pipeline: ['contract', 'config', 'host', 'plan', 'render'],
  gate: ['contract', 'pipeline'],
  state: ['contract', 'host', 'plan'],
  quarantine: ['contract', 'values', 'config', 'plan', 'store', 'state', 'pipeline'],
  'validation-tests': ['contract', 'values', 'config', 'templates', 'plan', 'store', 'pipeline'],
  controller: [
    'contract',
    'values',
    'config',
    'templates',
    'plan',
    'store',
    'host',
    'render',
    'pipeline',
    'gate',
    'state',
    'quarantine',
    'validation-tests',
  ],
};

/** They decide what a configuration means, so they may not ask the machine: hashing is handed to them. */
const PURE = ['values', 'config', 'templates', 'plan'];

/** Only these speak of HAProxy's configuration by the name of its file; all others move files without knowing them. */
const MAIN_CONFIG_SPEAKERS = [
  'core/src/contract/paths.ts',
  'core/src/plan/',
  'agent/src/',
  'plugins/validator-haproxy/src/',
  'cli/src/', // help texts
];

const all = modules();
const byPath = new Map(all.map((module) => [module.path, module]));

/** `file → import` for each import that breaks a rule. */
function offences(rule: (module: Module, specifier: string) => boolean): string[] {
  return all.flatMap((module) =>
    module.imports
      .filter((specifier) => rule(module, specifier))
      .map((specifier) => `${module.path} → ${specifier}`),
  );
}

/** Helpers of a package's own tests. Those of the core are exported, and must do without a test runner. */
function isTestHelper({ path, folder }: Module): boolean {
  return folder !== 'core' && path.startsWith(`${folder}/src/testing/`);
}

function layerOf(path: string): string | undefined {
  return /^core\/src\/([^/]+)\//.exec(path)?.[1];
}

/** The modules of ours that a module needs at run time. */
function neighbours(module: Module): Module[] {
  return module.runtimeImports.flatMap((specifier) => byPath.get(target(module, specifier) ?? '') ?? []);
}

/** Everything that a module needs, itself included. */
function reached(start: Module): Set<Module> {
  const seen = new Set([start]);
  for (const module of seen) for (const next of neighbours(module)) seen.add(next);
  return seen;
}

describe('packages', () => {
  it('are found, with their sources and imports', () => {
    expect(packages().map(({ folder }) => folder)).toEqual(expect.arrayContaining(['core', 'agent', 'cli']));
    expect(all.length).toBeGreaterThan(100);
    expect(byPath.get('core/src/host/order.ts')?.imports).toContain('../contract/errors.ts');
    expect(byPath.get('core/src/host/index.ts')?.imports).toContain('./host.ts');
  });

  it('import each other only along the allowed edges', () => {
    const disallowed = offences((module, specifier) => {
      if (!specifier.startsWith('@haptic/') || module.folder === 'cli') return false;
      return !(edges[module.folder] ?? PLUGIN_EDGES).includes(specifier);
    });
    expect(disallowed).toEqual([]);
  });

  it('do not reach into each other by path', () => {
    const outside = offences(
      (module, specifier) => target(module, specifier)?.startsWith(`${module.folder}/src/`) === false,
    );
    expect(outside).toEqual([]);
  });

  it('declare what they import, and name built-in modules as such', () => {
    const declared = new Map(packages().map(({ folder, dependencies }) => [folder, dependencies]));
    const undeclared = offences((module, specifier) => {
      if (specifier.startsWith('.') || specifier.startsWith('node:')) return false;
      const allowed = [
        ...declared.get(module.folder)!,
        ...(isTestHelper(module) ? developmentDependencies() : []),
      ];
      return !allowed.includes(packageOf(specifier));
    });
    expect(undeclared).toEqual([]);
  });

  it('declare nothing that they do not import', () => {
    const unused = packages().flatMap(({ folder, dependencies }) => {
      const used = new Set(
        all.filter((module) => module.folder === folder).flatMap(({ imports }) => imports.map(packageOf)),
      );
      return dependencies.filter((name) => !used.has(name)).map((name) => `${folder}: ${name}`);
    });
    expect(unused).toEqual([]);
  });

  it('leave the Kubernetes client to kube', () => {
    expect(
      offences((module, specifier) => specifier.startsWith('@kubernetes/') && module.folder !== 'kube'),
    ).toEqual([]);
  });

  it('do not depend on a parser of HAProxy configuration: HAProxy is its only judge', () => {
    const { packages: locked } = readJson('package-lock.json') as {
      packages: Readonly<Record<string, unknown>>;
    };
    const names = Object.keys(locked).map((path) =>
      path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    );
    expect(names.length).toBeGreaterThan(50);
    expect(
      names.filter((name) => /haproxy/i.test(name) && !name.startsWith('@haptic/') && !ours(name)),
    ).toEqual([]);
  });
});

/** The lockfile names our own packages by their folders, too. */
function ours(name: string): boolean {
  return packages().some(({ folder }) => folder.endsWith(name) || name.endsWith(folder));
}

describe('the core', () => {
  it('keeps its layers', () => {
    const disallowed = offences((module, specifier) => {
      const from = layerOf(module.path);
      const to = layerOf(target(module, specifier) ?? '');
      if (from === undefined || to === undefined || from === to) return false;
      return layers[from]?.includes(to) === false;
    });
    expect(disallowed).toEqual([]);
  });

  it('decides without the machine: nothing that its pure modules reach is a module of Node', () => {
    const impure = all
      .filter(({ path }) => PURE.includes(layerOf(path) ?? ''))
      .flatMap((module) => [...reached(module)])
      .flatMap(({ path, imports }) =>
        imports.filter((name) => name.startsWith('node:')).map((name) => `${path} → ${name}`),
      );
    expect([...new Set(impure)]).toEqual([]);
  });
});

describe('sources', () => {
  it('speak of haproxy.cfg only where it is written, judged or run', () => {
    const speakers = all.filter(({ code }) => code.includes('haproxy.cfg')).map(({ path }) => path);
    expect(speakers).toContain('core/src/contract/paths.ts');
    expect(
      speakers.filter((path) => !MAIN_CONFIG_SPEAKERS.some((allowed) => path.startsWith(allowed))),
    ).toEqual([]);
  });

  it('have no circle of imports', () => {
    const circular = all.filter((module) => neighbours(module).some((next) => reached(next).has(module)));
    expect(circular.map(({ path }) => path)).toEqual([]);
  });

  it('have default exports only as plugins', () => {
    const defaults = all.filter(({ code }) => /^export default\b/m.test(code)).map(({ path }) => path);
    expect(defaults.filter((path) => !/^plugins\/[^/]+\/src\/index\.ts$|plugin\.ts$/.test(path))).toEqual([]);
  });
});
