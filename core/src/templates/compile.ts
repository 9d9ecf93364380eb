import { Bug, type MergedConfig } from '../contract/index.ts';
import { Linker, type Template } from './codegen/linker.ts';
import { checkCycles } from './cycles.ts';
import type { NameRegistry } from './names/registry.ts';
import { Problems } from './problems.ts';
import { Program, type Roots, type UnitFunction } from './program.ts';
import { library } from './runtime/library.ts';
import { parseTemplates } from './sources.ts';
import { haproxyMode } from './text/haproxy-mode.ts';
import { pemMode, plainMode } from './text/plain-mode.ts';
import type { TextMode } from './text/text-mode.ts';
import { yamlMode } from './text/yaml-mode.ts';

export interface CompileOptions {
  /** Snippets that were dropped because what they require is not served: including one is empty. */
  readonly dropped?: ReadonlySet<string>;
}

/**
 * Compiles all templates of a configuration.
 * @throws Refused with every problem of every template.
 */
export function compileConfig(
  config: MergedConfig,
  names: NameRegistry,
  options: CompileOptions = {},
): Program {
  const problems = new Problems();
  const dropped = options.dropped ?? new Set();
  const templates = parseTemplates(config, names, dropped, problems);
  const { snippets } = templates;
  const linker = new Linker({ config, names, problems, snippets, dropped });
  checkCycles(templates, linker, problems);
  const roots = (group: ReadonlyMap<string, Template>, mode: TextMode) =>
    [...group]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, template]) => ({
        name,
        source: template.source,
        js: linker.root(template, mode, 'file'),
      }));
  const main = linker.root(templates.main, haproxyMode, 'main');
  const files = roots(templates.files, plainMode);
  const certificates = roots(templates.certificates, pemMode);
  const resources = roots(templates.resources, yamlMode);
  const code = linker.code();
  linker.checkUnused(haproxyMode);
  problems.throwIfAny();
  const all = [...files, ...certificates, ...resources];
  const units = load(code, [main, ...all.map(({ js }) => js)], linker.pool.constants);
  const run = (list: typeof all): Roots['files'] =>
    list.map((root) => ({ ...root, run: units.get(root.js)! }));
  const compiled: Roots = {
    main: units.get(main)!,
    files: run(files),
    certificates: run(certificates),
    resources: run(resources),
  };
  return new Program(config, compiled, linker.pool);
}

/** Makes functions of generated code. It holds no text of a template but in JSON strings, and no name of one. */
function load(
  code: string,
  roots: readonly string[],
  constants: readonly unknown[],
): Map<string, UnitFunction> {
  const source = `"use strict"; ${code}\nreturn [${roots.join(', ')}];`;
  try {
    // oxlint-disable-next-line typescript/no-implied-eval -- compiling templates is what this is for
    const make = new Function('K', ...Object.keys(library), source) as (
      ...parts: unknown[]
    ) => UnitFunction[];
    const units = make(constants, ...Object.values(library));
    return new Map(roots.map((js, i) => [js, units[i]!]));
  } catch (cause) {
    throw new Bug('a template was compiled to code that is none', { cause });
  }
}
