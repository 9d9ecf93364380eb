import {
  didYouMean,
  Held,
  isJsonObject,
  Refused,
  type ConfigSource,
  type HoldReason,
  type KubeObject,
  type Problem,
} from '@haptic/core/contract';
import { z } from 'zod';

/** Of the config only what leads to its libraries is read here; the core judges the whole. */
const Refs = z.array(z.looseObject({ name: z.string(), revision: z.string() }));

interface Trouble {
  readonly reason: HoldReason;
  readonly problem: Problem;
}

/**
 * The config set of a cluster: the libraries in the order of the config's references, the config last.
 *
 * @throws Held while a library is missing or has another revision than the config refers to: the objects of one change are
 * written one by one. Refused for references that are none.
 */
export function configSet(
  config: KubeObject,
  libraries: ReadonlyMap<string, KubeObject>,
): readonly ConfigSource[] {
  const parsed = Refs.safeParse(specOf(config)['libraryRefs'] ?? []);
  if (!parsed.success) {
    throw new Refused(parsed.error.issues.map(({ path, message }) => at(['libraryRefs', ...path], message)));
  }
  const troubles = parsed.data.flatMap((ref, index) => troubleWith(ref, index, libraries));
  const [first] = troubles;
  if (first !== undefined)
    throw new Held(
      first.reason,
      troubles.map(({ problem }) => problem),
    );
  return [
    ...parsed.data.map(({ name }) => sourceOf('library', libraries.get(name)!)),
    sourceOf('config', config),
  ];
}

function troubleWith(
  { name, revision }: z.output<typeof Refs>[number],
  index: number,
  libraries: ReadonlyMap<string, KubeObject>,
): Trouble[] {
  const library = libraries.get(name);
  if (library === undefined) {
    const message = `library "${name}" is missing${didYouMean(name, libraries.keys())}`;
    return [{ reason: 'LibraryMissing', problem: at(['libraryRefs', index, 'name'], message) }];
  }
  const has = specOf(library)['revision'];
  if (has === revision) return [];
  const message = `library "${name}" has revision ${JSON.stringify(has)}, the config refers to "${revision}"`;
  return [{ reason: 'RevisionMismatch', problem: at(['libraryRefs', index, 'revision'], message) }];
}

function at(path: readonly PropertyKey[], message: string): Problem {
  return { where: ['spec', ...path].join('.'), message };
}

function sourceOf(kind: ConfigSource['kind'], object: KubeObject): ConfigSource {
  return { kind, name: object.metadata.name, spec: object['spec'] };
}

function specOf(object: KubeObject): Readonly<Record<string, unknown>> {
  const { spec } = object as { readonly spec?: unknown };
  return isJsonObject(spec) ? spec : {};
}
