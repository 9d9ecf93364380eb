import { createHash } from 'node:crypto';
import {
  Refused,
  type Contents,
  type Fixtures,
  type JsonObject,
  type MapContent,
  type MergedConfig,
  type RenderPlan,
  type TemplateContent,
  type TemplateGlobal,
  type TemplateHelper,
} from '../contract/index.ts';
import { fixtureView } from '../store/index.ts';
import { compileConfig } from '../templates/compile.ts';
import { createNames } from '../templates/names/registry.ts';
import type { RenderOutput } from '../templates/output.ts';
import type { Program, RenderOptions } from '../templates/program.ts';
import { fakeClock } from './fake-clock.ts';

/** A configuration for tests of templates: texts of templates, and the little else that they need. */
export interface TemplateSet {
  /** The main template. */
  readonly main?: string;
  /** The body of the one section, when there is no `main`. */
  readonly body?: string;
  readonly snippets?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly certificates?: Readonly<Record<string, string>>;
  readonly resources?: Readonly<Record<string, string>>;
  readonly maps?: Readonly<Record<string, Partial<MapContent>>>;
  readonly settings?: JsonObject;
  /** Watches with their objects. */
  readonly fixtures?: Fixtures;
  /** What templates see as `data`. */
  readonly data?: unknown;
  readonly globals?: readonly TemplateGlobal[];
  readonly helpers?: readonly TemplateHelper[];
  readonly dropped?: readonly string[];
  readonly current?: RenderPlan;
  readonly contents?: Contents;
  readonly haproxyVersion?: string;
}

const origin = { kind: 'library', source: 'base' } as const;

function content(template: string): TemplateContent {
  return { template, requires: [], origin };
}

function contents(templates: Readonly<Record<string, string>> = {}): Record<string, TemplateContent> {
  return Object.fromEntries(Object.entries(templates).map(([name, text]) => [name, content(text)]));
}

/** The merged configuration that a template set stands for. */
export function templateConfig(set: TemplateSet): MergedConfig {
  const main = set.main ?? `{% section "test" %}\n${set.body ?? ''}\n{% endsection %}\n`;
  const map = { match: 'str', value: 'str', layer: 'leaf', secret: false, requires: [], origin } as const;
  const watch = { apiVersions: ['v1'], resources: 'things', optional: false, indexBy: [], namespaces: [] };
  return {
    haproxyConfig: content(main),
    templateSnippets: contents(set.snippets),
    files: Object.fromEntries(
      Object.entries(contents(set.files)).map(([name, file]) => [name, { ...file, reloadOnChange: true }]),
    ),
    sslCertificates: contents(set.certificates),
    k8sResources: contents(set.resources),
    maps: Object.fromEntries(Object.entries(set.maps ?? {}).map(([name, own]) => [name, { ...map, ...own }])),
    settings: set.settings ?? {},
    watchedResources: Object.fromEntries(
      Object.keys(set.fixtures ?? {}).map((name) => [
        name,
        { ...watch, ignoreFields: [], admission: false, debounce: 0 },
      ]),
    ),
    annotations: {},
    validationTests: {},
    controller: {
      logging: { level: 'info' },
      debounce: 50,
      renderTimeout: 30_000,
      skipTests: [],
      budgets: {},
    },
    owned: {},
    overrides: [],
    digest: '',
  };
}

/** @throws Refused */
export function compileTemplates(set: TemplateSet): Program {
  const names = createNames((text) => createHash('sha256').update(text).digest('hex'));
  if (set.data !== undefined) {
    const members = Object.keys(set.data as object).map((name) => ({ name, doc: '' }));
    names.global({ name: 'data', doc: 'what the test says', members, build: () => set.data as object });
  }
  for (const global of set.globals ?? []) names.global(global);
  for (const helper of set.helpers ?? []) names.helper(helper);
  return compileConfig(templateConfig(set), names, { dropped: new Set(set.dropped) });
}

/** Compiles and renders. */
export async function renderTemplates(
  set: TemplateSet,
  options: Partial<RenderOptions> = {},
): Promise<RenderOutput> {
  const config = templateConfig(set);
  const paths = { base: '/etc/haproxy', workerSocket: '/run/haproxy/worker.sock' };
  return await compileTemplates(set).render(
    {
      config,
      view: fixtureView(config.watchedResources, set.fixtures ?? {}),
      fleet: { haproxyVersion: set.haproxyVersion ?? '3.4.1', paths },
      ...(set.contents === undefined ? {} : { contents: set.contents }),
      ...(set.current === undefined ? {} : { current: set.current }),
    },
    { signal: new AbortController().signal, deadlineMs: 10_000, clock: fakeClock(), ...options },
  );
}

/** The text of the first section, from the body of one section. */
export async function renderBody(body: string, set: TemplateSet = {}): Promise<string> {
  const { pieces } = await renderTemplates({ ...set, body });
  const [piece] = pieces;
  return piece?.kind === 'section' ? piece.text : '';
}

/** Where and what the problems are that a set of templates has, at load or else at render. */
export async function problemsOf(set: TemplateSet, options: Partial<RenderOptions> = {}): Promise<string[]> {
  try {
    await renderTemplates(set, options);
  } catch (error) {
    if (error instanceof Refused) return error.problems.map(({ where, message }) => `${where} ${message}`);
    throw error;
  }
  return [];
}
