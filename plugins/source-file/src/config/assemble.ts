import {
  didYouMean,
  isJsonObject,
  mergeJson,
  Refused,
  type ConfigSource,
  type JsonObject,
  type Problem,
} from '@haptic/core/contract';
import type { ConfigDocument } from './read-config-file.ts';

export interface ConfigFiles {
  /** Shipped libraries, in their order. */
  readonly shipped: readonly ConfigDocument[];
  /** What the config folder holds, by path. */
  readonly folder: readonly ConfigDocument[];
}

/** The config of a folder without one: everything is as the libraries have it. */
const EMPTY: ConfigDocument = { source: { kind: 'config', name: 'default', spec: {} }, where: '', refs: [] };

const isLibrary = ({ source }: ConfigDocument): boolean => source.kind === 'library';

function byName(
  libraries: readonly ConfigDocument[],
  problems: Problem[],
): ReadonlyMap<string, ConfigDocument> {
  const named = new Map<string, ConfigDocument>();
  for (const library of libraries) {
    const { name } = library.source;
    const first = named.get(name);
    if (first === undefined) named.set(name, library);
    else
      problems.push({
        where: library.where,
        message: `library "${name}" is already defined at ${first.where}`,
      });
  }
  return named;
}

/** Libraries in the order of a config's references. */
function resolveRefs(
  config: ConfigDocument,
  libraries: ReadonlyMap<string, ConfigDocument>,
  problems: Problem[],
): readonly ConfigDocument[] {
  return config.refs.flatMap(({ name, revision }, index) => {
    const position = config.source.locate?.(['libraryRefs', index, 'name']);
    const where =
      position === undefined ? config.where : `${position.file}:${position.line}:${position.column}`;
    const library = libraries.get(name);
    if (library === undefined) {
      problems.push({ where, message: `library "${name}" is missing${didYouMean(name, libraries.keys())}` });
      return [];
    }
    if (library.revision !== undefined && library.revision !== revision) {
      const message = `library "${name}" has revision "${library.revision}" (${library.where}), not "${revision}"`;
      problems.push({ where, message });
    }
    return [library];
  });
}

/** A shipped library gives way to the folder's own of the same name: that is how an edited copy is used. */
function inPlaceOf(
  shipped: readonly ConfigDocument[],
  folder: readonly ConfigDocument[],
): readonly ConfigDocument[] {
  return shipped.map((library) => folder.find((own) => isLibrary(own) && sameName(own, library)) ?? library);
}

/** The folder's documents but the first of each library that took a shipped one's place. */
function withoutNames(
  folder: readonly ConfigDocument[],
  shipped: readonly ConfigDocument[],
): readonly ConfigDocument[] {
  const taken = new Set(inPlaceOf(shipped, folder));
  return folder.filter((document) => !taken.has(document));
}

function sameName(a: ConfigDocument, b: ConfigDocument): boolean {
  return a.source.name === b.source.name;
}

/** Libraries without references to them: the shipped ones in their order, and one of the folder's own. */
function defaultOrder({ shipped, folder }: ConfigFiles, problems: Problem[]): readonly ConfigDocument[] {
  const own = folder.filter(isLibrary);
  if (own.length > 1) {
    const names = own.map(({ source }) => `"${source.name}"`).join(', ');
    problems.push({
      where: own[0]!.where,
      message: `the order of the libraries ${names} is not known: list all libraries in libraryRefs of an HAProxyTemplateConfig`,
    });
  }
  return [...shipped, ...own];
}

function withSettings(source: ConfigSource, over: JsonObject): ConfigSource {
  const { spec } = source;
  const settings = isJsonObject(spec) ? (spec['settings'] ?? {}) : undefined;
  // What is no object here the schema refuses.
  if (!isJsonObject(spec) || !isJsonObject(settings)) return source;
  return { ...source, spec: { ...spec, settings: mergeJson(settings, over) } };
}

/**
 * The config set of files: libraries in an explicit order, the config last.
 * @throws Refused with all that keeps it from being whole.
 */
export function assemble({ shipped, folder }: ConfigFiles, settings: JsonObject): readonly ConfigSource[] {
  const problems: Problem[] = [];
  const files = { shipped: inPlaceOf(shipped, folder), folder: withoutNames(folder, shipped) };
  const [config = EMPTY, ...more] = folder.filter((document) => !isLibrary(document));
  for (const { where, source } of more) {
    problems.push({
      where,
      message: `config "${source.name}" is the second one: "${config.source.name}" is at ${config.where}`,
    });
  }
  const named = byName([...files.shipped, ...files.folder.filter(isLibrary)], problems);
  const libraries =
    config.refs.length > 0 ? resolveRefs(config, named, problems) : defaultOrder(files, problems);
  if (problems.length > 0) throw new Refused(problems);
  return [...libraries.map(({ source }) => source), withSettings(config.source, settings)];
}
