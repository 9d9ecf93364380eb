import { didYouMean, type MergedConfig, type TemplateContent } from '../contract/index.ts';
import type { Template } from './codegen/linker.ts';
import type { Macro } from './codegen/unit-context.ts';
import type { NameRegistry } from './names/registry.ts';
import type { Problems } from './problems.ts';
import { TemplateSource } from './source.ts';
import { bodiesOf, type Body, type IncludeNode, type MacroNode } from './syntax/nodes.ts';
import { parseTemplate } from './syntax/parser.ts';

/** The parsed templates of a configuration, by name. */
export interface Templates {
  readonly main: Template;
  readonly snippets: ReadonlyMap<string, Template>;
  readonly files: ReadonlyMap<string, Template>;
  readonly certificates: ReadonlyMap<string, Template>;
  readonly resources: ReadonlyMap<string, Template>;
}

/** The main template, in messages and provenance. */
const MAIN = 'haproxyConfig';

interface Parsed {
  readonly source: TemplateSource;
  readonly body: Body;
  readonly macros: Map<string, Macro>;
}

export function parseTemplates(
  config: MergedConfig,
  names: NameRegistry,
  dropped: ReadonlySet<string>,
  problems: Problems,
): Templates {
  const parse = (name: string, content: TemplateContent): Parsed => {
    const { source: owner, position } = content.origin;
    const source = new TemplateSource(name, owner, content.template, position);
    return { source, body: parseTemplate(source, problems), macros: new Map() };
  };
  const parseAll = (kind: string, contents: Readonly<Record<string, TemplateContent>>): Map<string, Parsed> =>
    new Map(Object.entries(contents).map(([name, content]) => [name, parse(`${kind}${name}`, content)]));
  const templates = {
    main: parse(MAIN, config.haproxyConfig),
    snippets: parseAll('', config.templateSnippets),
    files: parseAll('files/', config.files),
    certificates: parseAll('sslCertificates/', config.sslCertificates),
    resources: parseAll('k8sResources/', config.k8sResources),
  };
  const { main, snippets, files, certificates, resources } = templates;
  const all = [main, ...[snippets, files, certificates, resources].flatMap((group) => [...group.values()])];
  for (const template of all) declareMacros(template, names, problems);
  const imported = all.map((template) => importedMacros(template, snippets, dropped, problems));
  // Only now, so that an import brings what the snippet defines and not what it imports itself.
  for (const [i, template] of all.entries())
    for (const [name, macro] of imported[i]!) template.macros.set(name, macro);
  return templates;
}

function declareMacros({ source, body, macros }: Parsed, names: NameRegistry, problems: Problems): void {
  for (const node of body) {
    if (node.kind !== 'macro') continue;
    const { name, start } = node.name;
    const taken = names.globals.has(name) ? 'a global' : names.helpers.has(name) ? 'a helper' : undefined;
    if (taken !== undefined) problems.add(source, start, `"${name}" is ${taken} already: use another name`);
    else if (macros.has(name)) problems.add(source, start, `there are two macros "${name}"`);
    else macros.set(name, { node, source, macros });
    checkParameters(node, source, problems);
  }
}

function checkParameters({ parameters }: MacroNode, source: TemplateSource, problems: Problems): void {
  const seen = new Set<string>();
  for (const { name } of parameters) {
    if (seen.has(name.name)) problems.add(source, name.start, `there are two parameters "${name.name}"`);
    seen.add(name.name);
  }
}

function importedMacros(
  { source, body, macros }: Parsed,
  snippets: ReadonlyMap<string, Parsed>,
  dropped: ReadonlySet<string>,
  problems: Problems,
): Map<string, Macro> {
  const result = new Map<string, Macro>();
  for (const node of body) {
    if (node.kind !== 'import') continue;
    const { value, start } = node.snippet;
    const snippet = snippets.get(value);
    if (snippet === undefined) {
      if (dropped.has(value)) continue;
      problems.add(source, start, `there is no snippet "${value}"${didYouMean(value, snippets.keys())}`);
    }
    for (const [name, macro] of snippet?.macros ?? []) {
      if (macros.has(name) || result.has(name)) {
        problems.add(source, start, `the import brings a macro "${name}", which is there already`);
      }
      result.set(name, macro);
    }
  }
  return result;
}

/** All includes of a body, at any depth. */
export function includesOf(body: Body): readonly IncludeNode[] {
  return body.flatMap((node) => (node.kind === 'include' ? [node] : bodiesOf(node).flatMap(includesOf)));
}
